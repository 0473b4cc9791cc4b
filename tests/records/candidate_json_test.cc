#include "records/candidate_json.h"

#include <gtest/gtest.h>

#include "records/launch_plan_json.h"
#include "tests/records/sample_candidate.h"

namespace fusefarm {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  const Result<Candidate> candidate = candidate_from_json(text);
  if (candidate.ok()) {
    return "accepted";
  }
  EXPECT_EQ(candidate.error().code, ErrorCode::kInvalidArgument);
  return candidate.error().message;
}

TEST(CandidateJsonTest, RoundTripKeepsPlanAndDigest) {
  const Candidate candidate = sample_candidate();
  const Result<Candidate> read = candidate_from_json(to_json(candidate));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->plan, candidate.plan);
  EXPECT_EQ(read->digest(), candidate.digest());
  EXPECT_EQ(read->schedule, candidate.schedule);
  EXPECT_EQ(read->origin, "builtin");
  EXPECT_EQ(read->family, "rowwise");
  EXPECT_TRUE(read->deterministic);
  EXPECT_EQ(to_json(*read), to_json(candidate));
}

TEST(CandidateJsonTest, LaunchPlanRoundTripsAlone) {
  const LaunchPlan plan = sample_candidate().plan;
  const Result<LaunchPlan> read = launch_plan_from_json(to_json(plan));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, plan);
}

TEST(CandidateJsonTest, LaunchPlanTextIsTheDocumentedOne) {
  LaunchPlan plan;
  plan.buffers = {plain_buffer(BufferKind::kZeroed, graph::tokens(), 4)};
  plan.steps = {KernelStep{"f", {graph::tokens(), 2}, {InputArg{0}}}, LibraryStep{3}};
  EXPECT_EQ(to_json(plan),
            R"({"buffers":[{"columns":4,"dtype":"f32","kind":"zeroed","rows":"T"}],)"
            R"("steps":[{"kernel":{"args":[{"input":0}],"entry":"f","grid":{"dim":"T",)"
            R"("divisor":2}}},{"library":{"node":3}}],"version":1})");
}

TEST(CandidateJsonTest, UnknownFieldIsNamedWithTheNearestKnownOne) {
  const std::string text = replaced(to_json(sample_candidate()), "\"origin\":\"builtin\"",
                                    "\"origin\":\"builtin\",\"familly\":\"x\"");
  EXPECT_EQ(error_of(text), "candidate.familly: unknown field; did you mean family?");
}

TEST(CandidateJsonTest, UnknownFieldDeepInsideIsNamedWithItsPath) {
  const std::string text =
      replaced(to_json(sample_candidate()), "\"divisor\":4", "\"divisor\":4,\"cluster\":2");
  EXPECT_EQ(error_of(text), "candidate.plan.steps[0].kernel.grid.cluster: unknown field");
}

TEST(CandidateJsonTest, MissingFieldIsNamed) {
  const std::string text = replaced(to_json(sample_candidate()), ",\"divisor\":4", "");
  EXPECT_EQ(error_of(text), "candidate.plan.steps[0].kernel.grid.divisor: is missing");
}

TEST(CandidateJsonTest, DuplicateFieldIsAnError) {
  const std::string text =
      replaced(to_json(sample_candidate()), "\"divisor\":4", "\"divisor\":4,\"divisor\":8");
  EXPECT_EQ(error_of(text), "candidate field \"divisor\" stands there twice");
}

TEST(CandidateJsonTest, NewerVersionIsRefused) {
  Candidate candidate = sample_candidate();
  std::string text = to_json(candidate);
  const std::size_t at = text.rfind("\"version\":1");
  text.replace(at, 11, "\"version\":2");
  EXPECT_EQ(error_of(text), "candidate.version: 2 is not a version that is read here (1)");
  EXPECT_EQ(error_of(replaced(to_json(candidate), "\"version\":1", "\"version\":9")),
            "candidate.plan: launch plan version 9 is not read here (1)");
}

TEST(CandidateJsonTest, ValuesOutsideTheirRangeAreRefused) {
  const std::string text = to_json(sample_candidate());
  EXPECT_NE(error_of(replaced(text, "\"divisor\":4", "\"divisor\":0")).find("1 to"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "\"divisor\":4", "\"divisor\":1.0")).find("1.0 is not"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "\"dim\":\"16*T\"", "\"dim\":\"016*T\"")).find("dimension"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "\"dim\":\"16*T\"", "\"dim\":\"1*T\"")).find("dimension"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "\"input\":0", "\"input\":-1")).find("0 to"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "\"input\":0", "\"input\":99999999999999999999")).find("input"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "\"entry\":\"rows\"", "\"entry\":\"rows()\"")).find("C ident"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "\"source_kind\":\"cpp\"", "\"source_kind\":\"ptx\"")),
            "accepted");
}

TEST(CandidateJsonTest, AnArgumentOfTwoKindsIsRefused) {
  const std::string text =
      replaced(to_json(sample_candidate()), "{\"input\":0}", "{\"input\":0,\"output\":0}");
  EXPECT_NE(error_of(text).find("unknown field"), std::string::npos);
}

TEST(CandidateJsonTest, TextThatIsNotJsonIsRefusedWithItsPlace) {
  EXPECT_NE(error_of("{\"version\":1,").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of("[1]").find("is not an object"), std::string::npos);
  EXPECT_NE(error_of("").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of(std::string(100'000, '[')).find("not JSON"), std::string::npos);
}

TEST(CandidateJsonTest, SourceBeyondItsBoundIsRefused) {
  Candidate candidate = sample_candidate();
  candidate.source.assign(kSourceBytesMax + 1, 'x');
  EXPECT_NE(error_of(to_json(candidate)).find("are more than 1048576"), std::string::npos);
}

}  // namespace
}  // namespace fusefarm
