#include "cli/doctor_checks.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace fusefarm::cli {
namespace {

HostFacts good_host() {
  HostFacts facts;
  facts.cpu_model = "A CPU";
  facts.cores = 2;
  facts.avx2_and_fma = true;
  facts.memory_bytes = std::int64_t{8} << 30;
  facts.disk_bytes = std::int64_t{50} << 30;
  facts.folder_writable = true;
  facts.folder = "/home/user";
  facts.compiler = std::string("g++ 12");
  facts.sandbox = std::string("full");
  facts.blas_core = "Zen";
  facts.huge_pages = "madvise";
  facts.sqlite = "3.40.1";
  return facts;
}

Check check_of(const HostFacts& facts, const std::string& name) {
  for (const Check& check : assess(facts)) {
    if (check.name == name) {
      return check;
    }
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(DoctorChecksTest, AGoodHostHasNothingToRepair) {
  for (const Check& check : assess(good_host())) {
    EXPECT_TRUE(check.state == CheckState::kOk || check.state == CheckState::kInfo) << check.name;
    EXPECT_TRUE(check.remedy.empty()) << check.name;
  }
}

TEST(DoctorChecksTest, EveryWarningAndFailureHasARemedy) {
  HostFacts facts;
  facts.load = 3;
  facts.missing_programs = {"/x/fusefarm-runner"};
  facts.compiler = Error{ErrorCode::kEnvironment, "none"};
  facts.sandbox = Error{ErrorCode::kEnvironment, "none"};
  const std::vector<Check> checks = assess(facts);
  for (const Check& check : checks) {
    const bool bad = check.state == CheckState::kWarn || check.state == CheckState::kFail;
    EXPECT_EQ(bad, !check.remedy.empty()) << check.name;
  }
  EXPECT_GE(std::ranges::count(checks, CheckState::kFail, &Check::state), 4);
}

TEST(DoctorChecksTest, WithoutACompilerOrASandboxARunCanNotWork) {
  HostFacts facts = good_host();
  facts.compiler = Error{ErrorCode::kEnvironment, "there is no /usr/bin/g++"};
  EXPECT_EQ(check_of(facts, "compiler").state, CheckState::kFail);
  EXPECT_EQ(check_of(facts, "compiler").detail, "there is no /usr/bin/g++");
  facts = good_host();
  facts.sandbox = Error{ErrorCode::kEnvironment, "bubblewrap is not installed"};
  EXPECT_EQ(check_of(facts, "sandbox").state, CheckState::kFail);
  EXPECT_NE(check_of(facts, "sandbox").remedy.find("degraded-ok"), std::string::npos);
}

TEST(DoctorChecksTest, MemoryIsEnoughTightOrTooLittle) {
  HostFacts facts = good_host();
  facts.memory_bytes = (std::int64_t{4} << 30) - 1;
  EXPECT_EQ(check_of(facts, "memory").state, CheckState::kWarn);
  facts.memory_bytes = (std::int64_t{3} << 30) - 1;
  EXPECT_EQ(check_of(facts, "memory").state, CheckState::kFail);
}

TEST(DoctorChecksTest, AReadOnlyFolderIsAWarningBecauseTheFileMayNameAnother) {
  HostFacts facts = good_host();
  facts.folder_writable = false;
  EXPECT_EQ(check_of(facts, "disk").state, CheckState::kWarn);
  facts = good_host();
  facts.disk_bytes = 1 << 20;
  EXPECT_EQ(check_of(facts, "disk").state, CheckState::kFail);
}

TEST(DoctorChecksTest, AbsentAndUnusedGpusAreSaidPlainly) {
  EXPECT_EQ(check_of(good_host(), "gpu").detail,
            "no GPU; campaigns run on the CPU; no CUDA headers at build time");
  HostFacts facts = good_host();
  facts.gpu = true;
  facts.cuda_headers = true;
  EXPECT_EQ(
      check_of(facts, "gpu").detail,
      "NVIDIA driver present, not used; campaigns run on the CPU; CUDA headers at build time");
}

TEST(DoctorChecksTest, ThisHostsFactsAreGathered) {
  const HostFacts facts = gather_facts();
  EXPECT_GT(facts.cores, 0);
  EXPECT_GT(facts.memory_bytes, 0);
  EXPECT_GT(facts.disk_bytes, 0);
  EXPECT_FALSE(facts.sqlite.empty());
  EXPECT_FALSE(facts.folder.empty());
}

}  // namespace
}  // namespace fusefarm::cli
