#include "cli/workload_argument.h"

#include <gtest/gtest.h>

namespace fusefarm::cli {
namespace {

TEST(WorkloadArgumentTest, EachPhaseHasItsForm) {
  const auto decode = parse_workload_argument("decode:32:4096");
  ASSERT_TRUE(decode.ok());
  EXPECT_EQ(decode->bindings(), (graph::Bindings{32, 32, 32 * 4096, 32}));
  const auto prefill = parse_workload_argument("prefill:512");
  ASSERT_TRUE(prefill.ok());
  EXPECT_EQ(prefill->bindings(), (graph::Bindings{512, 1, 512, 1}));
  EXPECT_EQ(parse_workload_argument("prefill:512:2048")->bindings().slots, 2048);
  const auto block = parse_workload_argument("block:2:1024");
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->bindings(), (graph::Bindings{64, 2, 2048, 64}));
  EXPECT_EQ(parse_workload_argument("block:2:1024:16")->tokens, 32);
}

TEST(WorkloadArgumentTest, AnythingElseIsRefusedWithTheForms) {
  for (const char* text :
       {"", "decode", "decode:32", "decode:0:64", "decode:-1:64", "decode:8:64:2", "decode:x:64",
        "decode:08:64", "prefill", "prefill:100:50", "block:1", "block:1:16", "train:1:1",
        "decode:99999999999999999999:1", "prefill:2000000", "decode:8: 64"}) {
    const auto parsed = parse_workload_argument(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(parsed.error().message.find("decode:BATCH:CONTEXT"), std::string::npos);
  }
}

}  // namespace
}  // namespace fusefarm::cli
