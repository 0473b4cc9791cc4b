#include "worker/job_handler.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "codegen/cpu_generator.h"
#include "codegen/pattern.h"
#include "codegen/schedule.h"
#include "tests/worker/arm_fixture.h"
#include "tests/worker/tiny_model.h"

namespace fusefarm::worker {
namespace {

using graph::OpKind;

class JobHandlerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WorkerOptions options;
    options.program_folder = program_folder();
    options.clock = &system_clock();
    options.seed = 7;
    auto handler = make_job_handler(options);
    ASSERT_TRUE(handler.ok()) << handler.error().message;
    handler_ = handler.take();
  }

  Result<JobResult> run(const Job& job) {
    return handler_->run(
        job, [this](TransportEvent event) { events_.push_back(std::move(event)); },
        [this] { return cancelled_; }, LeaseId{1});
  }

  // The outcomes of these candidates, or a failed test.
  std::vector<Outcome> screen(ScreenJob job, std::vector<Candidate> candidates) {
    job.candidates = std::move(candidates);
    for (std::size_t i = 0; i < job.candidates.size(); ++i) {
      job.experiments.push_back(ExperimentId{i + 1});
    }
    auto result = run(job);
    if (!result.ok()) {
      ADD_FAILURE() << result.error().message;
      return std::vector<Outcome>(job.candidates.size());
    }
    return std::get<ScreenResult>(*result).outcomes;
  }

  static Candidate generated(const ScreenJob& job, int threads = 2) {
    const auto plan = codegen::match(*job.region);
    EXPECT_TRUE(plan.has_value());
    const codegen::ScheduleSpace space(*job.region, *plan, job.workload.bindings(), threads);
    Candidate candidate = codegen::generate(*job.region, job.signature, *plan, space.start(),
                                            threads, job.workload.bindings());
    return candidate;
  }

  // A generated candidate with a statement put before the end of its first entry.
  static Candidate sabotaged(const ScreenJob& job, const std::string& statement) {
    Candidate candidate = generated(job);
    const std::size_t entry = candidate.source.rfind("extern \"C\"");
    const std::size_t body = candidate.source.find('{', entry);
    EXPECT_NE(body, std::string::npos);
    candidate.source.insert(body + 1, "\n" + statement + "\n");
    return candidate;
  }

  std::unique_ptr<JobHandler> handler_;
  std::vector<TransportEvent> events_;
  bool cancelled_ = false;
};

std::string said(const Outcome& outcome) {
  return std::string(to_string(outcome.verdict.klass)) + " " + outcome.verdict.reason + ": " +
         outcome.verdict.detail;
}

TEST_F(JobHandlerTest, TheUnfusedBaselineIsRightAndNoFasterThanItself) {
  const ScreenJob job = tiny_region(tiny_model(), {OpKind::kAdd, OpKind::kRmsNorm}, tiny_decode());
  const auto outcomes = screen(job, {codegen::noop_candidate(*job.region, job.signature)});
  ASSERT_EQ(outcomes.size(), 1U);
  for (const CorrectnessRecord& record : outcomes[0].correctness) {
    EXPECT_TRUE(record.ok) << record.distribution << ": " << record.failure << " " << record.detail;
  }
  EXPECT_NE(outcomes[0].verdict.klass, VerdictClass::kImproved) << said(outcomes[0]);
  EXPECT_FALSE(outcomes[0].correctness.empty());
  ASSERT_TRUE(outcomes[0].screen.has_value());
  EXPECT_LT(std::abs(outcomes[0].screen->estimate), 0.1);
  EXPECT_EQ(outcomes[0].isolation, "full");
  EXPECT_FALSE(outcomes[0].toolchain.empty());
}

TEST_F(JobHandlerTest, EveryOutcomeIsReportedAsSoonAsItIsThrough) {
  const ScreenJob job = tiny_region(tiny_model(), {OpKind::kAdd, OpKind::kRmsNorm}, tiny_decode());
  screen(job, {codegen::noop_candidate(*job.region, job.signature), generated(job)});
  std::vector<std::uint64_t> reported;
  for (const TransportEvent& event : events_) {
    if (const auto* outcome = std::get_if<Outcome>(&event.what)) {
      reported.push_back(outcome->experiment.value);
    }
  }
  EXPECT_EQ(reported, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(JobHandlerTest, AGeneratedCandidateIsRightInEveryRegionOfTheModel) {
  const auto model = tiny_model();
  const std::vector<std::vector<OpKind>> regions{{OpKind::kAdd, OpKind::kRmsNorm},
                                                 {OpKind::kLinear, OpKind::kSiluMul},
                                                 {OpKind::kLinear, OpKind::kAdd},
                                                 {OpKind::kLinear, OpKind::kArgmax}};
  for (const auto& ops : regions) {
    for (const Workload& workload : {tiny_decode(), tiny_prefill()}) {
      const ScreenJob job = tiny_region(model, ops, workload);
      const auto outcomes = screen(job, {generated(job)});
      ASSERT_EQ(outcomes.size(), 1U);
      const VerdictClass klass = outcomes[0].verdict.klass;
      // Right, however busy the host is while it times.
      const bool busy = klass == VerdictClass::kInfra && outcomes[0].verdict.reason == "cotenant";
      const bool judged = klass == VerdictClass::kImproved || klass == VerdictClass::kNoGain ||
                          klass == VerdictClass::kInconclusive || busy;
      EXPECT_FALSE(outcomes[0].correctness.empty());
      EXPECT_TRUE(std::ranges::all_of(outcomes[0].correctness, &CorrectnessRecord::ok));
      EXPECT_TRUE(judged) << graph::to_string(ops[0]) << "+" << graph::to_string(ops[1]) << " "
                          << workload.name << ": " << said(outcomes[0]);
    }
  }
}

TEST_F(JobHandlerTest, WhatCandidatesDoWrongIsToldApart) {
  const ScreenJob job = tiny_region(tiny_model(), {OpKind::kAdd, OpKind::kRmsNorm}, tiny_decode());
  Candidate broken = generated(job);
  broken.source += "\nthis is no C++\n";
  Candidate no_entry = generated(job);
  no_entry.plan.steps.clear();
  const auto outcomes =
      screen(job, {broken, no_entry, sabotaged(job, "return;"),
                   sabotaged(job, "*(volatile int*)64 = 1;"), sabotaged(job, "__builtin_trap();"),
                   sabotaged(job, "for (volatile int i = 0;; ++i) {}"), generated(job)});
  ASSERT_EQ(outcomes.size(), 7U);
  EXPECT_EQ(outcomes[0].verdict.klass, VerdictClass::kRejectBuild) << said(outcomes[0]);
  EXPECT_EQ(outcomes[1].verdict.klass, VerdictClass::kRejectStatic) << said(outcomes[1]);
  EXPECT_EQ(outcomes[2].verdict.klass, VerdictClass::kRejectWrong) << said(outcomes[2]);
  EXPECT_EQ(outcomes[3].verdict.klass, VerdictClass::kRejectFault) << said(outcomes[3]);
  EXPECT_EQ(outcomes[4].verdict.klass, VerdictClass::kRejectFault) << said(outcomes[4]);
  EXPECT_EQ(outcomes[5].verdict.klass, VerdictClass::kRejectHang) << said(outcomes[5]);
  EXPECT_FALSE(outcomes[6].correctness.empty())
      << "what others did ends nothing for the next one: " << said(outcomes[6]);
}

TEST_F(JobHandlerTest, AConfirmationHasFreshExecutorsAndAddsItsOwnSamples) {
  ScreenJob job = tiny_region(tiny_model(), {OpKind::kAdd, OpKind::kRmsNorm}, tiny_decode());
  const Candidate candidate = generated(job);
  const auto screened = screen(job, {candidate});
  job.candidates = {candidate};
  job.experiments = {ExperimentId{1}};
  const auto result = run(ConfirmJob{job, screened[0]});
  ASSERT_TRUE(result.ok()) << result.error().message;
  const auto& outcome = std::get<Outcome>(*result);
  ASSERT_TRUE(outcome.confirmation.has_value());
  ASSERT_EQ(outcome.measurements.size(), 2U);
  EXPECT_EQ(outcome.measurements[1].stage, "confirm");
  const auto& blocks = outcome.measurements[1].blocks;
  ASSERT_FALSE(blocks.empty());
  const bool quiet = std::ranges::none_of(blocks.front().quads, &Quad::discarded);
  if (quiet) {
    EXPECT_GE(blocks.size(), 2U) << said(outcome);
  }
}

TEST_F(JobHandlerTest, TheProfileNamesALibraryPerGemmAndATimePerNode) {
  const auto model = tiny_model();
  const auto result = run(ProfileJob{{model, {}}, {tiny_decode(), tiny_prefill()}});
  ASSERT_TRUE(result.ok()) << result.error().message;
  const auto& profile = std::get<ProfileResult>(*result);
  ASSERT_EQ(profile.workloads.size(), 2U);
  EXPECT_GT(profile.workloads[0].step_seconds, 0);
  EXPECT_GT(profile.workloads[0].nodes.size(), 10U);
  EXPECT_FALSE(profile.gemms.empty());
  for (const GemmChoice& gemm : profile.gemms) {
    EXPECT_GT(gemm.seconds.at("packed"), 0) << gemm.n << "x" << gemm.k;
    EXPECT_GT(gemm.seconds.at("openblas"), 0);
    EXPECT_GT(gemm.seconds.at("onednn"), 0);
  }
  EXPECT_GT(profile.copy_bytes_per_second, 1e9);
  EXPECT_GT(profile.flops_per_second, 1e9);
  EXPECT_FALSE(profile.blas_core.empty());
}

TEST_F(JobHandlerTest, AModelAgainstItselfHasEqualValuesAndNoHeadline) {
  const ModelVersion version{tiny_model(), {}};
  IntegrateJob job;
  job.kind = "end_to_end";
  job.before = job.after = version;
  job.workloads = {tiny_decode(), tiny_prefill()};
  const auto result = run(job);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const auto& integration = std::get<IntegrationResult>(*result);
  ASSERT_EQ(integration.workloads.size(), 2U) << integration.verdict.detail;
  for (const WorkloadIntegration& one : integration.workloads) {
    EXPECT_TRUE(one.values_ok);
    EXPECT_EQ(one.token_flips, 0);
    EXPECT_EQ(one.error_before, one.error_after);
    EXPECT_FALSE(one.measurement.blocks.empty());
  }
}

TEST_F(JobHandlerTest, ACancelledJobEndsAsCancelled) {
  cancelled_ = true;
  ScreenJob job = tiny_region(tiny_model(), {OpKind::kAdd, OpKind::kRmsNorm}, tiny_decode());
  job.candidates = {generated(job)};
  job.experiments = {ExperimentId{1}};
  const auto result = run(job);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace fusefarm::worker
