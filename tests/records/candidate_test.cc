#include <gtest/gtest.h>

#include "tests/records/sample_candidate.h"

namespace fusefarm {
namespace {

TEST(CandidateTest, DigestIgnoresWhereTheCandidateCameFrom) {
  Candidate other = sample_candidate();
  other.origin = "llm";
  other.family = "another";
  other.schedule.clear();
  EXPECT_EQ(other.digest(), sample_candidate().digest());
}

TEST(CandidateTest, DigestDependsOnEveryPartOfTheContent) {
  const Digest digest = sample_candidate().digest();
  const auto changed = [&](auto change) {
    Candidate other = sample_candidate();
    change(other);
    return other.digest() != digest;
  };
  EXPECT_TRUE(changed([](Candidate& c) { c.region = digest_of("other"); }));
  EXPECT_TRUE(changed([](Candidate& c) { c.source += " "; }));
  EXPECT_TRUE(changed([](Candidate& c) { c.flags.pop_back(); }));
  EXPECT_TRUE(changed([](Candidate& c) { c.plan.buffers[0].columns = 1025; }));
  EXPECT_TRUE(changed([](Candidate& c) { c.plan.buffers[0].kind = BufferKind::kZeroed; }));
  EXPECT_TRUE(changed([](Candidate& c) { c.plan.buffers[1].layout.panel = 16; }));
  EXPECT_TRUE(changed([](Candidate& c) { c.plan.buffers[1].layout.pair_interleave = false; }));
  EXPECT_TRUE(changed([](Candidate& c) { c.plan.steps.pop_back(); }));
  EXPECT_TRUE(changed([](Candidate& c) { std::get<LibraryStep>(c.plan.steps[1]).node = 8; }));
  EXPECT_TRUE(changed([](Candidate& c) { std::get<KernelStep>(c.plan.steps[0]).entry = "r"; }));
  EXPECT_TRUE(
      changed([](Candidate& c) { std::get<KernelStep>(c.plan.steps[0]).grid.divisor = 2; }));
}

TEST(CandidateTest, DigestTellsArgumentKindsOfEqualIndexApart) {
  Candidate input = sample_candidate();
  Candidate output = sample_candidate();
  std::get<KernelStep>(input.plan.steps[0]).args = {InputArg{1}};
  std::get<KernelStep>(output.plan.steps[0]).args = {OutputArg{1}};
  EXPECT_NE(input.digest(), output.digest());
}

TEST(CandidateTest, DigestIgnoresFieldsThatABufferOfThisKindDoesNotUse) {
  Candidate other = sample_candidate();
  other.plan.buffers[0].weight = 5;
  other.plan.buffers[1].columns = 9;
  EXPECT_EQ(other.digest(), sample_candidate().digest());
}

}  // namespace
}  // namespace fusefarm
