// Row stages: as an entry of their own, or at the start of each block of the GEMM they feed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/generator.h"
#include "codegen/op_emitter.h"

namespace fusefarm::codegen {

// Where row `m` of x of a GEMM is written, `column` elements in.
Sink panel_sink(const InputPanel& panel, const std::string& base, const std::string& column);

struct RowWork {
  int stage = -1;                          // ops of this stage; -1: none
  std::vector<graph::TensorId> packs;      // region inputs to convert into their panels
  std::vector<const graph::Node*> angles;  // rope nodes whose angles later stages want
  std::int64_t rows = 0;
  bool in_block = false;   // emitted inside a GEMM's entry: only block 0 writes shared memory
  std::int64_t parts = 1;  // blocks that share the columns of a row (elementwise stages only)
};

class RowSlice : public SliceContext {
 public:
  RowSlice(Generator& generator, EntryArgs& args, const RowWork& work)
      : g_(generator), args_(args), work_(work) {}

  std::string read(graph::TensorId id) override;
  std::vector<Sink> sinks(graph::TensorId id) override;
  std::int64_t width(graph::TensorId id) const override;
  std::string bound(graph::TensorId id) const override;
  std::int64_t half_offset(graph::TensorId id) const override;
  std::string whole(graph::TensorId id) override;
  std::string angles(const graph::Node& rope) override;

  int stage() const override { return work_.stage; }

  std::string row() const override { return "m"; }

 private:
  std::string written(const Place& place, std::int64_t columns);

  Generator& g_;
  EntryArgs& args_;
  const RowWork& work_;
  std::set<graph::TensorId> local_;
  std::set<int> angles_;
};

// The statements for row m.
void emit_row(Generator& generator, EntryArgs& args, const RowWork& work);

// An entry "rows<number>" and its step in the plan.
void emit_row_entry(Generator& generator, const RowWork& work, int number);

// Index of the frequency table of a rope node; the table is part of the source.
int frequency_table(Generator& generator, const graph::Node& rope);
std::int64_t angle_half(const Generator& generator, const graph::Node& rope);

// Whether the columns of a stage's rows can be shared by several blocks.
bool elementwise_stage(const graph::Graph& region, const Stage& stage);

}  // namespace fusefarm::codegen
