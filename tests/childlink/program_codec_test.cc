#include "childlink/program_codec.h"

#include <gtest/gtest.h>

#include "childlink/json_reader.h"

namespace fusefarm::childlink {
namespace {

// x (boundary) -> add -> y (boundary), a prepared weight and a candidate step.
Program sample() {
  Program program;
  program.sets = 2;
  program.set_bytes = 8192;
  program.weight_bytes = 4096;
  program.artifacts = {""};
  const auto dense = [](Placement placement, std::int64_t rows, std::int64_t columns) {
    ProgramBuffer buffer;
    buffer.placement = placement;
    buffer.rows = rows;
    buffer.columns = columns;
    return buffer;
  };
  ProgramBuffer in = dense(Placement::kBoundary, 4, 8);
  in.name = "x";
  ProgramBuffer out = in;
  out.offset = 4096;
  out.poison = true;
  const ProgramBuffer weight = dense(Placement::kWeights, 4, 8);
  ProgramBuffer prepared = dense(Placement::kPrepared, 1, 128);
  prepared.source = 2;
  prepared.copies = 3;
  prepared.layout.order = RowOrder::kHalves;
  program.buffers = {in, out, weight, prepared};
  ProgramStep add;
  add.op = graph::OpKind::kAdd;
  add.attrs.set("eps", 1e-6).set("head_dim", std::int64_t{8}).set("mode", std::string("x"));
  add.tensors = {{0, 0, 8, 4, 8}, {0, 0, 8, 4, 8}, {1, 0, 8, 4, 8}};
  ProgramStep candidate;
  candidate.kind = StepKind::kCandidate;
  candidate.artifact = 0;
  candidate.entry = "fused_0";
  candidate.blocks = 4;
  candidate.dims = {4, -1};
  candidate.tensors = {{3, 0, 128, 1, 128}, {1, 2, 8, 4, 4}};
  candidate.node = 9;
  program.steps = {add, candidate};
  return program;
}

TEST(ProgramCodecTest, AProgramComesBackAsItWas) {
  const Program program = sample();
  const std::string text = program_to_json(program);
  const auto read = program_from_json(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(program_to_json(*read), text);
  EXPECT_EQ(read->steps[1].entry, "fused_0");
  EXPECT_EQ(read->steps[0].attrs, program.steps[0].attrs);
  EXPECT_EQ(read->buffers[3].layout, program.buffers[3].layout);
  EXPECT_EQ(read->artifacts.size(), 1U);
}

TEST(ProgramCodecTest, EveryPrefixOfAProgramIsRefused) {
  const std::string text = program_to_json(sample());
  for (std::size_t n = 0; n < text.size(); ++n) {
    ASSERT_FALSE(program_from_json(std::string_view(text).substr(0, n)).ok()) << n;
  }
}

TEST(ProgramCodecTest, UnknownMembersAreRefused) {
  Json json = Json::parse(program_to_json(sample()));
  json["buffers"][0]["extra"] = 1;
  const auto read = program_from_json(json.dump());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("program.buffers[0].extra"), std::string::npos);
}

struct Damage {
  const char* name;
  void (*apply)(Program&);
};

class ProgramCheckTest : public ::testing::TestWithParam<Damage> {};

TEST_P(ProgramCheckTest, AProgramThatLeavesItsMemoryIsRefused) {
  Program program = sample();
  ASSERT_TRUE(check_program(program).ok());
  GetParam().apply(program);
  const auto checked = check_program(program);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(program_from_json(program_to_json(program)).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Damages, ProgramCheckTest,
    ::testing::Values(
        Damage{"buffer_past_its_set", [](Program& p) { p.buffers[1].offset = 8192 - 64; }},
        Damage{"weight_past_the_region", [](Program& p) { p.buffers[2].rows = 1024; }},
        Damage{"offset_overflow", [](Program& p) { p.buffers[0].offset = INT64_MAX; }},
        Damage{"extent_overflow",
               [](Program& p) { p.buffers[0].rows = p.buffers[0].columns = 1LL << 30; }},
        Damage{"prepared_from_boundary", [](Program& p) { p.buffers[3].source = 0; }},
        Damage{"prepared_from_nothing", [](Program& p) { p.buffers[3].source = 99; }},
        Damage{"view_past_its_buffer", [](Program& p) { p.steps[0].tensors[0].column = 1; }},
        Damage{"view_stride_past_its_buffer",
               [](Program& p) { p.steps[0].tensors[0].row_stride = 1LL << 29; }},
        Damage{"view_of_nothing", [](Program& p) { p.steps[0].tensors[0].buffer = 4; }},
        Damage{"negative_column", [](Program& p) { p.steps[0].tensors[0].column = -1; }},
        Damage{"no_artifact", [](Program& p) { p.steps[1].artifact = 1; }},
        Damage{"entry_is_no_identifier", [](Program& p) { p.steps[1].entry = "a b"; }},
        Damage{"empty_entry", [](Program& p) { p.steps[1].entry = ""; }},
        Damage{"no_sets", [](Program& p) { p.sets = 0; }},
        Damage{"no_copies", [](Program& p) { p.buffers[3].copies = 0; }}),
    [](const auto& damage) { return std::string(damage.param.name); });

}  // namespace
}  // namespace fusefarm::childlink
