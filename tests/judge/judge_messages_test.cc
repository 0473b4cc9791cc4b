#include "childlink/judge_messages.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"

namespace fusefarm::childlink {
namespace {

TEST(JudgeMessagesTest, RequestsSurviveTheirText) {
  OpenPool pool;
  pool.graph_json = "{\"a\": [1, \"x\"]}";
  pool.bindings = {8, 8, 64, 8};
  pool.tensor_of = {3, -1, 7};
  pool.exposed = {5};
  pool.entries = {{"normal", ~std::uint64_t{0}, false, 2}, {"ties", 1, true, 0}};
  pool.boundary_sets = 12;
  pool.whole_model = true;
  const JudgeRequest requests[] = {OpenModel{"{}", {1, 2, 3, 4}, 1ULL << 63, 2},
                                   pool,
                                   Prepare{4, {0, 2}},
                                   Compare{1, 2, 3},
                                   CompareModel{1, 2, 3, 4},
                                   ClosePool{9}};
  for (const JudgeRequest& request : requests) {
    const auto back = judge_request_from(encode(request));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back->index(), request.index());
    EXPECT_EQ(encode(*back), encode(request));
  }
  const auto back = judge_request_from(encode(JudgeRequest(pool)));
  EXPECT_EQ(std::get<OpenPool>(*back).entries[0].seed, ~std::uint64_t{0});
}

TEST(JudgeMessagesTest, RepliesSurviveTheirTextAndInfinitiesBecomeHugeNumbers) {
  Compared compared;
  compared.record.distribution = "normal";
  compared.record.seed = 1ULL << 63;
  compared.record.failure = "numeric";
  compared.record.detail = "\xff not UTF-8";
  compared.record.outputs = {{"28", INFINITY, NAN, 0.5, 77, 3}};
  compared.inputs_unchanged = false;
  const JudgeReply replies[] = {Done{}, PoolOpened{3}, compared,
                                ModelCompared{true, false, 0.1, 0.2, 8, 1, 0, "x"},
                                Failed{{ErrorCode::kUnsupported, "no"}}};
  for (const JudgeReply& reply : replies) {
    const auto back = judge_reply_from(encode(reply));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back->index(), reply.index());
  }
  const auto back = judge_reply_from(encode(JudgeReply(compared)));
  const CorrectnessRecord& record = std::get<Compared>(*back).record;
  EXPECT_GT(record.outputs[0].worst_over_bound, 1e200);
  EXPECT_GT(record.outputs[0].relative_norm, 1e200);
  EXPECT_EQ(record.outputs[0].worst_index, 77);
  EXPECT_EQ(record.seed, 1ULL << 63);
}

TEST(JudgeMessagesTest, UnknownMissingAndIllTypedMembersAreErrors) {
  for (const char* text :
       {"", "[]", "{}", R"({"request": "dance"})", R"({"request": "close_pool"})",
        R"({"request": "close_pool", "pool": "1"})", R"({"request": "close_pool", "pool": -1})",
        R"({"request": "close_pool", "pool": 1, "more": 2})",
        R"({"request": "prepare", "pool": 1, "entries": [1.5]})",
        R"({"request": "prepare", "pool": 1, "entries": [18446744073709551615]})",
        R"({"request": "compare", "pool": 1, "set": 1e9, "entry": 0})"}) {
    EXPECT_FALSE(judge_request_from(text).ok()) << text;
  }
  EXPECT_FALSE(judge_reply_from(R"({"reply": "failed", "code": 99, "message": ""})").ok());
}

TEST(JudgeMessagesTest, CorruptedTextNeverDoesMoreThanFail) {
  const std::string honest = encode(JudgeRequest(OpenModel{"{}", {1, 2, 3, 4}, 5, 2}));
  Random random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = honest;
    broken[random.below(broken.size())] = static_cast<char>(random.next());
    if (const auto request = judge_request_from(broken); request.ok()) {
      EXPECT_EQ(request->index(), 0U);
    }
  }
}

}  // namespace
}  // namespace fusefarm::childlink
