#include "childlink/compile_messages.h"

#include <gtest/gtest.h>

namespace fusefarm::childlink {
namespace {

TEST(CompileMessagesTest, RequestAndReplyComeBackAsTheyWere) {
  CompileRequest request;
  request.compiler = "/usr/bin/g++";
  request.source = "extern \"C\" void f() {}\n";
  request.flags = {"-O3", "-mavx2"};
  const auto read = compile_request_from(encode(request));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->source, request.source);
  EXPECT_EQ(read->flags, request.flags);

  const auto reply = compile_reply_from(encode(CompileReply{CompileStatus::kTimeout, "slow", 1.5}));
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->status, CompileStatus::kTimeout);
  EXPECT_EQ(reply->diagnostics, "slow");
}

TEST(CompileMessagesTest, DiagnosticsOfAnyBytesAndLengthPass) {
  const auto reply = compile_reply_from(
      encode(CompileReply{CompileStatus::kError, std::string(1U << 20, '\xfe'), 0}));
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_FALSE(reply->diagnostics.empty());
}

TEST(CompileMessagesTest, LimitsOutOfRangeAreRefused) {
  CompileRequest request;
  request.seconds_max = 0;
  EXPECT_FALSE(compile_request_from(encode(request)).ok());
  request.seconds_max = 5;
  request.output_bytes_max = 0;
  EXPECT_FALSE(compile_request_from(encode(request)).ok());
}

}  // namespace
}  // namespace fusefarm::childlink
