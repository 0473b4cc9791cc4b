#include "childlink/runner_messages.h"

#include <gtest/gtest.h>

namespace fusefarm::childlink {
namespace {

TEST(RunnerMessagesTest, ALoadRequestComesBackAsItWas) {
  LoadRequest request;
  request.threads = 2;
  request.cores = {0, 3};
  request.program.sets = 5;
  const auto read = load_request_from(encode(request));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->threads, 2);
  EXPECT_EQ(read->cores, request.cores);
  EXPECT_EQ(read->program.sets, 5);
}

TEST(RunnerMessagesTest, BothRepliesComeBackAsTheyWere) {
  Loaded loaded{.prepare_seconds = 0.25,
                .prepared_bytes = 7,
                .private_bytes = 9,
                .blas_core = "Zen",
                .filtered = true};
  const auto read = load_reply_from(encode(LoadReply{loaded}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(std::get<Loaded>(*read).blas_core, "Zen");
  EXPECT_EQ(std::get<Loaded>(*read).prepared_bytes, 7);
  EXPECT_TRUE(std::get<Loaded>(*read).filtered);

  const auto failed =
      load_reply_from(encode(LoadReply{LoadFailed{LoadFault::kArtifact, "\xff no"}}));
  ASSERT_TRUE(failed.ok()) << failed.error().message;
  EXPECT_EQ(std::get<LoadFailed>(*failed).fault, LoadFault::kArtifact);
}

TEST(RunnerMessagesTest, ForgedRepliesAreRefused) {
  for (const char* text :
       {"", "[]", "{}", "null", R"({"reply":"loaded"})", R"({"reply":"failed","fault":"x"})",
        R"({"reply":"loaded","prepare_seconds":1e999,"prepared_bytes":0,"private_bytes":0,)"
        R"("blas_core":"","filtered":true})",
        R"({"reply":"loaded","prepare_seconds":0,"prepared_bytes":-1,"private_bytes":0,)"
        R"("blas_core":"","filtered":true})",
        R"({"reply":"failed","fault":"host","message":"m","more":1})"}) {
    EXPECT_FALSE(load_reply_from(text).ok()) << text;
  }
}

}  // namespace
}  // namespace fusefarm::childlink
