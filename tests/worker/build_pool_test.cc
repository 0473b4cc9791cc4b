#include "worker/build_pool.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/worker/arm_fixture.h"

namespace fusefarm::worker {
namespace {

class BuildPoolTest : public ArmFixture {
 protected:
  const Artifact* build(const Candidate& candidate) {
    const auto built = pool_->build({&candidate}, [] { return false; });
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().message);
    return pool_->find(candidate);
  }
};

TEST_F(BuildPoolTest, GoodSourceBecomesAnArtifactOnce) {
  const Candidate candidate = row_candidate("y[0] = x[0];");
  const Artifact* artifact = build(candidate);
  ASSERT_NE(artifact, nullptr);
  ASSERT_FALSE(artifact->refused.has_value()) << artifact->refused->detail;
  EXPECT_EQ(artifact->bytes.substr(1, 3), "ELF");
  EXPECT_EQ(artifact->digest, digest_of(artifact->bytes));
  const double first = artifact->seconds;
  EXPECT_EQ(build(candidate)->seconds, first) << "the second call built nothing";
}

TEST_F(BuildPoolTest, BadSourceIsRefusedWithTheCompilersWords) {
  const Artifact* artifact = build(row_candidate("this is no C++;"));
  ASSERT_NE(artifact, nullptr);
  ASSERT_TRUE(artifact->refused.has_value());
  EXPECT_EQ(artifact->refused->klass, VerdictClass::kRejectBuild);
  EXPECT_EQ(artifact->refused->reason, "error");
  EXPECT_NE(artifact->refused->detail.find("error:"), std::string::npos);
}

TEST_F(BuildPoolTest, HostFilesCannotBeRead) {
  const Artifact* artifact = build(row_candidate("", "#include \"/etc/passwd\"\n"));
  ASSERT_TRUE(artifact->refused.has_value());
  EXPECT_NE(artifact->refused->detail.find("No such file"), std::string::npos);
}

TEST_F(BuildPoolTest, SeveralCandidatesAreBuiltSideBySide) {
  std::vector<Candidate> candidates;
  std::vector<const Candidate*> pointers;
  for (int i = 0; i < 4; ++i) {
    candidates.push_back(row_candidate("y[0] = x[0] + " + std::to_string(i) + ";"));
  }
  candidates.push_back(row_candidate("wrong"));
  for (const Candidate& candidate : candidates) {
    pointers.push_back(&candidate);
  }
  BuildOptions options;
  options.processes = 3;
  BuildPool pool(sandbox(), options, system_clock());
  ASSERT_TRUE(pool.build(pointers, [] { return false; }).ok());
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(pool.find(candidates[static_cast<std::size_t>(i)])->refused.has_value());
  }
  EXPECT_TRUE(pool.find(candidates[4])->refused.has_value());
}

TEST_F(BuildPoolTest, NoCompilerIsTheHostsFault) {
  BuildOptions options;
  options.compiler = "/nowhere/g++";
  BuildPool pool(sandbox(), options, system_clock());
  const Candidate candidate = row_candidate("");
  const auto built = pool.build({&candidate}, [] { return false; });
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(built.error().message.find("/nowhere/g++"), std::string::npos);
  EXPECT_EQ(pool.find(candidate), nullptr);
}

TEST_F(BuildPoolTest, ArtifactsOutliveThePoolInItsFolder) {
  const std::string folder = ::testing::TempDir() + "/fusefarm-artifacts";
  BuildOptions options;
  options.cache_folder = folder;
  ASSERT_TRUE(make_directories(folder).ok());
  const Candidate candidate = row_candidate("y[0] = x[0] * 3;");
  BuildPool first(sandbox(), options, system_clock());
  ASSERT_TRUE(first.build({&candidate}, [] { return false; }).ok());
  BuildPool second(sandbox(), options, system_clock());
  ASSERT_TRUE(second.build({&candidate}, [] { return false; }).ok());
  EXPECT_EQ(second.find(candidate)->digest, first.find(candidate)->digest);
  EXPECT_EQ(second.find(candidate)->seconds, 0) << "it came from the folder";
}

}  // namespace
}  // namespace fusefarm::worker
