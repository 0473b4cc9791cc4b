#include <gtest/gtest.h>

#include "records/campaign_json.h"
#include "records/job_json.h"

namespace fusefarm {
namespace {

CampaignSpec sample_spec() {
  CampaignSpec spec;
  spec.name = "c";
  spec.model_config = "m.json";
  spec.layers = 4;
  spec.workloads = {{"decode-8", graph::Phase::kDecode, 8, 256, 8, 0.8},
                    {"block", graph::Phase::kBlockDiffusion, 2, 64, 64, 0.2}};
  spec.dtype = graph::DType::kF32;
  spec.threads = 2;
  spec.search.proposers = {"noop"};
  spec.search.seed = ~std::uint64_t{0};
  spec.search.budget_seconds = 1.5;
  spec.gate.min_gain = 0.02;
  spec.store_path = "h.db";
  spec.output_folder = "out";
  spec.sandbox_degraded_ok = true;
  return spec;
}

TEST(SpecJsonTest, CampaignSpecRoundTrips) {
  const CampaignSpec spec = sample_spec();
  const Result<CampaignSpec> read = campaign_spec_from_json(to_json(spec));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(spec));
  EXPECT_EQ(read->workloads, spec.workloads);
  EXPECT_EQ(read->search.seed, spec.search.seed);
  EXPECT_EQ(read->dtype, graph::DType::kF32);
  EXPECT_TRUE(read->sandbox_degraded_ok);
}

TEST(SpecJsonTest, WorkloadOfUnknownPhaseIsRefused) {
  std::string text = to_json(sample_spec().workloads[0]);
  text.replace(text.find("decode\""), 7, "train\"");
  const Result<Workload> read = workload_from_json(text);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message,
            "workload.phase: \"train\" is not one of decode, prefill, block-diffusion");
}

TEST(SpecJsonTest, ProfileResultRoundTrips) {
  ProfileResult profile;
  profile.workloads = {{"decode-8", 0.01, {{3, 1e-4}, {9, 2e-5}}}};
  profile.gemms = {
      {8, 1024, 3072, graph::DType::kBF16, "onednn", {{"openblas", 0.2}, {"onednn", 0.1}}}};
  profile.copy_bytes_per_second = 3e10;
  profile.blas_core = "Haswell";
  const Result<ProfileResult> read = profile_result_from_json(to_json(profile));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(profile));
  EXPECT_EQ(read->gemms[0].seconds.at("onednn"), 0.1);
  EXPECT_EQ(read->workloads[0].nodes[1].node, 9);
}

TEST(SpecJsonTest, IntegrationResultRoundTrips) {
  IntegrationResult result;
  result.ok = true;
  result.verdict.klass = VerdictClass::kIntegrationFail;
  WorkloadIntegration workload;
  workload.workload = "w";
  workload.values_ok = true;
  workload.error_after = 1e-3;
  workload.tokens_compared = 8;
  workload.time = {0.1, 0.05, 0.15};
  result.workloads = {workload};
  result.combined = {0.2, 0.1, 0.3};
  result.margin = 0.003;
  const Result<IntegrationResult> read = integration_result_from_json(to_json(result));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(result));
  EXPECT_EQ(read->workloads[0].tokens_compared, 8);
  EXPECT_EQ(read->combined.lo, 0.1);
}

}  // namespace
}  // namespace fusefarm
