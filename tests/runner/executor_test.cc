#include "runner/executor.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bf16.h"
#include "base/random.h"
#include "base/unique_fd.h"
#include "codegen/kernels/pack.h"

namespace fusefarm::runner {
namespace {

using childlink::CommandArgs;
using childlink::LoadFault;
using graph::DType;

// A memfd of this many bytes, mapped for the test beside the executor's own mapping.
class Shared {
 public:
  explicit Shared(std::size_t bytes) : fd_(::memfd_create("test", MFD_CLOEXEC)), bytes_(bytes) {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
    base_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    EXPECT_NE(base_, MAP_FAILED);
  }

  ~Shared() { ::munmap(base_, bytes_); }

  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  int fd() const { return fd_.get(); }

  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(base_) + offset);
  }

 private:
  UniqueFd fd_;
  std::size_t bytes_;
  void* base_ = nullptr;
};

ProgramBuffer buffer(Placement placement, DType dtype, std::int64_t rows, std::int64_t columns,
                     std::int64_t offset = 0) {
  ProgramBuffer made;
  made.placement = placement;
  made.dtype = dtype;
  made.rows = rows;
  made.columns = columns;
  made.offset = offset;
  return made;
}

TensorRef whole(std::int32_t index, const Program& program) {
  const ProgramBuffer& of = program.buffers[static_cast<std::size_t>(index)];
  return {index, 0, of.columns, of.rows, of.columns};
}

class ExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override { team_ = Team::start(2, {}).take(); }

  std::unique_ptr<Executor> load(const Program& program, const Shared& boundary,
                                 const Shared* weights = nullptr) {
    return Executor::load(program, {boundary.fd(), weights == nullptr ? -1 : weights->fd()}, {},
                          *team_, system_clock(), failure_);
  }

  std::unique_ptr<Team> team_;
  Executor::Failure failure_;
};

// t = a + a (private), y = t + a: two steps over boundary memory.
Program sums(std::int64_t rows, std::int64_t columns) {
  Program program;
  program.sets = 3;
  program.set_bytes = 8192;
  program.buffers = {buffer(Placement::kBoundary, DType::kF32, rows, columns),
                     buffer(Placement::kPrivate, DType::kF32, rows, columns),
                     buffer(Placement::kBoundary, DType::kF32, rows, columns, 4096)};
  ProgramStep first;
  first.op = graph::OpKind::kAdd;
  first.tensors = {whole(0, program), whole(0, program), whole(1, program)};
  ProgramStep second = first;
  second.tensors = {whole(1, program), whole(0, program), whole(2, program)};
  program.steps = {first, second};
  return program;
}

TEST_F(ExecutorTest, LaunchesCycleOverTheSetsFromTheFirstOne) {
  const Shared boundary(3 * 8192);
  for (std::size_t set = 0; set < 3; ++set) {
    std::fill_n(boundary.at<float>(set * 8192), 64, static_cast<float>(set + 1));
  }
  const auto executor = load(sums(4, 16), boundary);
  ASSERT_NE(executor, nullptr) << failure_.message;
  CommandArgs args;
  args.first_set = 2;
  args.launches = 2;  // sets 2 and 0
  ASSERT_TRUE(executor->run(args));
  EXPECT_EQ(*boundary.at<float>(2 * 8192 + 4096), 9.0F);
  EXPECT_EQ(*boundary.at<float>(4096), 3.0F);
  EXPECT_EQ(*boundary.at<float>(8192 + 4096), 0.0F) << "set 1 was not launched";
}

TEST_F(ExecutorTest, StepRangesRunAlone) {
  const Shared boundary(3 * 8192);
  std::fill_n(boundary.at<float>(0), 64, 1.0F);
  const auto executor = load(sums(4, 16), boundary);
  ASSERT_NE(executor, nullptr) << failure_.message;
  CommandArgs args;
  args.step_end = 1;
  ASSERT_TRUE(executor->run(args));
  EXPECT_EQ(*boundary.at<float>(4096), 0.0F) << "the second step did not run";
  args.step_begin = 1;
  args.step_end = 2;
  ASSERT_TRUE(executor->run(args));
  EXPECT_EQ(*boundary.at<float>(4096), 3.0F);
  args.step_begin = 2;
  args.step_end = 1;
  EXPECT_FALSE(executor->run(args)) << "an empty-handed range is refused";
}

TEST_F(ExecutorTest, PoisonReachesPrivateScratch) {
  const Shared boundary(3 * 8192);
  const auto executor = load(sums(4, 16), boundary);
  ASSERT_NE(executor, nullptr) << failure_.message;
  CommandArgs args;
  ASSERT_TRUE(executor->run(args));
  EXPECT_EQ(*boundary.at<float>(4096), 0.0F);
  CommandArgs poison;
  poison.command = childlink::Command::kPoison;
  poison.poison = 5;
  ASSERT_TRUE(executor->run(poison));
  args.step_begin = 1;  // reads scratch that nobody wrote
  ASSERT_TRUE(executor->run(args));
  EXPECT_NE(*boundary.at<float>(4096), 0.0F);
}

TEST_F(ExecutorTest, ARegionSmallerThanTheProgramSaysIsTheRequestsFault) {
  const Shared boundary(8192);
  EXPECT_EQ(load(sums(4, 16), boundary), nullptr);
  EXPECT_EQ(failure_.fault, LoadFault::kProgram);
}

TEST_F(ExecutorTest, AnArtifactThatIsNoObjectIsTheArtifactsFault) {
  const Shared boundary(3 * 8192);
  const Shared garbage(4096);
  Program program = sums(4, 16);
  program.artifacts = {""};
  const auto executor = Executor::load(program, {boundary.fd(), -1}, {garbage.fd()}, *team_,
                                       system_clock(), failure_);
  EXPECT_EQ(executor, nullptr);
  EXPECT_EQ(failure_.fault, LoadFault::kArtifact);
}

// y = x W^T with the weight in whatever form the implementation wants.
class GemmTest : public ExecutorTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(GemmTest, EveryImplementationAgreesWithTheDefinition) {
  constexpr std::int64_t kRows = 5;
  constexpr std::int64_t kN = 72;
  constexpr std::int64_t kK = 48;
  const std::string choice = GetParam();
  Program program;
  program.set_bytes = 8192;
  program.weight_bytes = kN * kK * 2;
  program.buffers = {buffer(Placement::kBoundary, DType::kBF16, kRows, kK),
                     buffer(Placement::kBoundary, DType::kBF16, kRows, kN, 4096),
                     buffer(Placement::kWeights, DType::kBF16, kN, kK)};
  std::int32_t weight = 2;
  if (choice != "onednn") {
    PreparedLayout layout;
    layout.panel = 0;
    layout.dtype = DType::kF32;
    if (choice == "packed") {
      layout = codegen::packed_linear_layout(DType::kBF16);
    }
    const auto shape = codegen::prepared_shape(layout, kN, kK);
    ProgramBuffer prepared = buffer(Placement::kPrepared, layout.dtype, shape.rows, shape.columns);
    prepared.layout = layout;
    prepared.source = 2;
    prepared.copies = 3;
    program.buffers.push_back(prepared);
    weight = 3;
  }
  ProgramStep step;
  step.op = graph::OpKind::kLinear;
  step.choice = choice;
  step.tensors = {whole(0, program), whole(weight, program), whole(1, program)};
  program.steps = {step};

  const Shared boundary(8192);
  const Shared weights(static_cast<std::size_t>(kN * kK * 2));
  Random random(3);
  auto* x = boundary.at<std::uint16_t>(0);
  auto* w = weights.at<std::uint16_t>(0);
  for (std::int64_t i = 0; i < kRows * kK; ++i) {
    x[i] = float_to_bf16(static_cast<float>(random.normal()));
  }
  for (std::int64_t i = 0; i < kN * kK; ++i) {
    w[i] = float_to_bf16(static_cast<float>(random.normal()));
  }
  const auto executor = load(program, boundary, &weights);
  ASSERT_NE(executor, nullptr) << failure_.message;
  for (std::uint32_t copy = 0; copy < 3; ++copy) {
    std::memset(boundary.at<std::byte>(4096), 0, 4096);
    CommandArgs args;
    args.first_copy = copy;
    ASSERT_TRUE(executor->run(args));
    const auto* y = boundary.at<std::uint16_t>(4096);
    for (std::int64_t r = 0; r < kRows; ++r) {
      for (std::int64_t n = 0; n < kN; ++n) {
        double sum = 0;
        for (std::int64_t k = 0; k < kK; ++k) {
          sum += double{bf16_to_float(x[r * kK + k])} * double{bf16_to_float(w[n * kK + k])};
        }
        ASSERT_NEAR(bf16_to_float(y[r * kN + n]), sum, 0.01 * std::abs(sum) + 1e-3)
            << "row " << r << " column " << n << " copy " << copy;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Libraries, GemmTest, ::testing::Values("packed", "openblas", "onednn"),
                         [](const auto& library) { return std::string(library.param); });

TEST(GemmLibraryTest, OpenBlasRunsKernelsForThisCpu) {
  const std::string core = openblas_core();
  EXPECT_FALSE(core.empty());
  if (__builtin_cpu_supports("avx2") != 0) {
    for (const char* slow : {"Prescott", "Core2", "Nehalem", "Sandybridge", "Generic"}) {
      EXPECT_NE(core, slow) << "an AVX2 machine with kernels from before";
    }
  }
}

TEST(MemoryTest, RunningPastTheEndOfScratchFaults) {
  const auto guarded = GuardedBuffer::allocate(100).take();
  guarded.data()[99] = std::byte{1};
  EXPECT_DEATH(guarded.data()[128] = std::byte{1}, "");
}

}  // namespace
}  // namespace fusefarm::runner
