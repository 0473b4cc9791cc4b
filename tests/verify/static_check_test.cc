#include "verify/static_check.h"

#include <gtest/gtest.h>

#include "graph/graph_builder.h"
#include "verify/source_text.h"

namespace fusefarm::verify {
namespace {

constexpr const char* kHonest = R"(// y = silu(x)
typedef struct { void* data; long row_stride; } FfTensor;
typedef struct { const FfTensor* tensors; const long* dims; } FfArgs;
typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));
namespace {
constexpr int kLanes = 8;
const float kTable[2] = {1.0f, 2.0f};
struct Pair { float a, b; };
static inline __attribute__((always_inline)) float half(float x) { return 0.5f * x; }
template <int N> float sum(const float* x) {
  float s = 0;
  for (int i = 0; i < N; ++i) s += x[i];
  return s;
}
}
extern "C" float expf(float);
extern "C" {
void other(const FfArgs* args, long block);
}
extern "C" void entry(const FfArgs* args, long block) {
  const float* x = (const float*)args->tensors[0].data;
  static const char* const kName = "include asm";
  int i = 0;
#pragma GCC unroll 4
  for (; i < kLanes; ++i) ((float*)args->tensors[1].data)[i] = half(x[i]) + expf(x[i]) + kName[0];
}
)";

TEST(SourceTextTest, AnHonestKernelIsNotRefused) {
  EXPECT_EQ(forbidden_text(kHonest, {"entry", "expf"}), "");
}

TEST(SourceTextTest, EachForbiddenConstructIsRefused) {
  const std::vector<std::string> sources{
      "#include <stdio.h>\n",
      "  # define X 1\n",
      "int x; %: include <x>\n",
      "#pragma GCC optimize(\"Ofast\")\n",
      "#pragma GCC unroll 4 // \\\n include\n",
      "void f() { asm(\"nop\"); }",
      "void f() { __asm__ volatile(\"syscall\"); }",
      "static int counter;",
      "void f() { static int calls = 0; ++calls; }",
      "thread_local int x = 0;",
      "int global = 3;",
      "float cache[64];",
      "namespace { long state; }",
      "extern int errno_value;",
      "extern \"C\" void* dlopen(const char*, int);",
      "__attribute__((constructor)) void f() {}",
      "[[gnu::constructor]] void f() {}",
      "void f() __attribute__((ifunc(\"g\")));",
      "__attribute__((section(\".data\"))) const int x = 1;",
      "/* no end",
      "const char* s = \"no end;\n",
      "const char* s = R\"(raw)\";",
      "in\\\nclude",
      "unsigned long long f() { return __builtin_ia32_rdtsc(); }",
      "void* f() { return __builtin_return_address(0); }",
      "void f() { int* p = new int; }",
      "int caf\xc3\xa9;"};
  for (const std::string& source : sources) {
    EXPECT_NE(forbidden_text(source, {"entry"}), "") << source;
  }
}

class StaticCheckTest : public testing::Test {
 protected:
  StaticCheckTest() {
    graph::GraphBuilder b(region_, graph::DType::kBF16);
    const auto x = b.input("x", graph::DType::kBF16, {graph::tokens(), graph::fixed(64)});
    const auto y = b.linear("linear", x, 128, false);
    region_.inputs.push_back(region_.node(region_.producer(y)->id).inputs[1]);
    region_.outputs = {y};
    candidate_.source = kHonest;
    candidate_.flags = {"-O3", "-mavx2"};
    BufferSpec prepared;
    prepared.kind = BufferKind::kPrepared;
    prepared.weight = 1;
    candidate_.plan.buffers = {
        prepared, {BufferKind::kScratch, graph::DType::kF32, graph::tokens(), 128, -1, {}}};
    candidate_.plan.steps = {KernelStep{
        "entry", {graph::fixed(128), 16}, {InputArg{0}, BufferArg{0}, BufferArg{1}, OutputArg{0}}}};
  }

  std::string reason() const {
    const auto verdict = static_check(candidate_, region_, {8, 8, 64, 8});
    if (!verdict) {
      return "";
    }
    EXPECT_EQ(verdict->klass, VerdictClass::kRejectStatic);
    return verdict->reason;
  }

  KernelStep& step() { return std::get<KernelStep>(candidate_.plan.steps[0]); }

  graph::Graph region_;
  Candidate candidate_;
};

TEST_F(StaticCheckTest, AnHonestCandidateMayBeBuilt) {
  EXPECT_EQ(reason(), "");
  EXPECT_EQ(required_entries(candidate_), std::vector<std::string>{"entry"});
}

TEST_F(StaticCheckTest, FlagsOutsideOfTheListAreRefused) {
  for (const char* flag :
       {"-ffast-math", "-include /etc/passwd", "-Wl,-z,execstack", "@file", "-O9"}) {
    candidate_.flags = {flag};
    EXPECT_EQ(reason(), "flags") << flag;
  }
}

TEST_F(StaticCheckTest, IndicesOutOfRangeAreRefused) {
  for (const LaunchArg& arg : {LaunchArg(InputArg{2}), LaunchArg(InputArg{-1}),
                               LaunchArg(OutputArg{1}), LaunchArg(BufferArg{2})}) {
    step().args.back() = arg;
    EXPECT_EQ(reason(), "plan");
  }
}

TEST_F(StaticCheckTest, AnUnwrittenOutputIsRefused) {
  step().args.pop_back();
  EXPECT_EQ(reason(), "plan");
}

TEST_F(StaticCheckTest, HugeOrEmptyGridsAndBuffersAreRefused) {
  const KernelStep honest = step();
  for (const GridExpr grid : {GridExpr{graph::fixed(0), 1}, GridExpr{graph::fixed(128), 0},
                              GridExpr{graph::fixed(INT64_MAX), 1},
                              GridExpr{graph::tokens(1 << 30), 1}, GridExpr{graph::fixed(-4), 1}}) {
    step().grid = grid;
    EXPECT_EQ(reason(), "plan");
  }
  step() = honest;
  for (const std::int64_t columns :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40, INT64_MAX}) {
    candidate_.plan.buffers[1].columns = columns;
    EXPECT_EQ(reason(), "plan");
  }
  candidate_.plan.buffers[1].columns = 128;
  candidate_.plan.buffers[1].rows = graph::tokens(INT64_MAX);
  EXPECT_EQ(reason(), "plan");
}

TEST_F(StaticCheckTest, PreparedBuffersComeFromWeights) {
  candidate_.plan.buffers[0].weight = 0;
  EXPECT_EQ(reason(), "plan");
  candidate_.plan.buffers[0].weight = 7;
  EXPECT_EQ(reason(), "plan");
}

TEST_F(StaticCheckTest, EntriesAreIdentifiersAndLibraryStepsNameNodes) {
  for (const char* entry : {"", "9x", "a b", "_start", "f;g", "caf\xc3\xa9"}) {
    step().entry = entry;
    EXPECT_EQ(reason(), "plan") << entry;
  }
  candidate_.source = "";
  candidate_.plan.steps = {LibraryStep{region_.nodes()[0].id}};
  EXPECT_EQ(reason(), "");
  candidate_.plan.steps = {LibraryStep{99}};
  EXPECT_EQ(reason(), "plan");
  candidate_.plan.steps.clear();
  EXPECT_EQ(reason(), "plan");
}

TEST_F(StaticCheckTest, LongSourcesAreRefused) {
  candidate_.source = std::string(300 << 10, ' ');
  EXPECT_EQ(reason(), "source");
}

}  // namespace
}  // namespace fusefarm::verify
