#include "tests/worker/arm_fixture.h"

#include "worker/host.h"

namespace fusefarm::worker {

std::string program_folder() { return FUSEFARM_BINARY_DIR; }

Program row_program(const std::string& entry) {
  Program program;
  ProgramBuffer x;
  x.placement = Placement::kBoundary;
  x.rows = kRows;
  x.columns = kColumns;
  x.name = "x";
  ProgramBuffer y = x;
  y.offset = kRows * kColumns * 4;
  y.poison = true;
  y.name = "y";
  program.buffers = {x, y};
  program.set_bytes = 2 * kRows * kColumns * 4;
  program.artifacts = {""};
  ProgramStep step;
  step.kind = StepKind::kCandidate;
  step.artifact = 0;
  step.entry = entry;
  step.blocks = kRows;
  step.dims = {kColumns};
  step.tensors = {{0, 0, kColumns, kRows, kColumns}, {1, 0, kColumns, kRows, kColumns}};
  program.steps = {step};
  return program;
}

Candidate row_candidate(const std::string& body, const std::string& before) {
  Candidate candidate;
  candidate.source =
      "typedef struct { void* data; long row_stride; } FfTensor;\n"
      "typedef struct { const FfTensor* tensors; const long* dims; } FfArgs;\n" +
      before +
      "\nextern \"C\" void rows(const FfArgs* args, long row) {\n"
      "  const float* x = (const float*)args->tensors[0].data + row * "
      "args->tensors[0].row_stride;\n"
      "  float* y = (float*)args->tensors[1].data + row * args->tensors[1].row_stride;\n"
      "  (void)x; (void)y;\n" +
      body + "\n}\n";
  candidate.flags = {"-O2"};
  return candidate;
}

void ArmFixture::SetUp() {
  auto sandbox = Sandbox::detect({program_folder(), "", false});
  ASSERT_TRUE(sandbox.ok()) << sandbox.error().message;
  sandbox_ = sandbox.take();
  BuildOptions options;
  options.processes = 1;
  pool_.emplace(*sandbox_, options, system_clock());
  host_.sandbox = &*sandbox_;
  host_.clock = &system_clock();
  host_.cores = usable_cores(2);
  host_.threads = static_cast<int>(host_.cores.size());
  auto boundary = SharedMemory::create("test-boundary", 2 * kRows * kColumns * 4);
  ASSERT_TRUE(boundary.ok()) << boundary.error().message;
  boundary_ = boundary.take();
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
    x()[i] = static_cast<float>(i);
  }
}

float* ArmFixture::floats(std::int64_t at) {
  return reinterpret_cast<float*>(boundary_.bytes().data()) + at;
}

std::optional<ArmProcess> ArmFixture::start(const Candidate& candidate,
                                            std::optional<Verdict>& fault) {
  const auto built = pool_->build({&candidate}, [] { return false; });
  EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().message);
  const Artifact* artifact = pool_->find(candidate);
  if (artifact == nullptr || artifact->object == nullptr) {
    ADD_FAILURE() << "not built: "
                  << (artifact != nullptr && artifact->refused ? artifact->refused->detail : "");
    return std::nullopt;
  }
  const ArmInputs inputs{row_program("rows"), {artifact->object->get()}, boundary_.fd(), -1};
  auto arm = ArmProcess::start(host_, inputs, fault);
  if (!arm.ok()) {
    ADD_FAILURE() << arm.error().message;
    return std::nullopt;
  }
  return arm.take();
}

std::optional<ArmProcess> ArmFixture::start(const std::string& body) {
  std::optional<Verdict> fault;
  auto arm = start(row_candidate(body), fault);
  EXPECT_FALSE(fault.has_value()) << fault->detail;
  return arm;
}

}  // namespace fusefarm::worker
