// What the epilogue of a GEMM has at hand: one row of the accumulator block, a few columns wide.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/gemm_emitter.h"
#include "codegen/op_emitter.h"

namespace fusefarm::codegen {

class EpilogueSlice : public SliceContext {
 public:
  // `branch`: the heads tensor whose columns the block holds, or kNone when there are no heads.
  EpilogueSlice(Generator& generator, EntryArgs& args, const GemmShape& shape,
                graph::TensorId branch);

  std::string read(graph::TensorId id) override;
  std::vector<Sink> sinks(graph::TensorId id) override;
  std::int64_t width(graph::TensorId id) const override;
  std::string bound(graph::TensorId id) const override;

  std::int64_t half_offset(graph::TensorId) const override { return shape_.panel; }

  std::string whole(graph::TensorId id) override;
  std::string angles(const graph::Node& rope) override;

  int stage() const override { return shape_.stage; }

  std::string row() const override { return "m"; }

  // Whether the node works on values of this branch.
  bool concerns(const graph::Node& node) const;

 private:
  bool in_accumulators(graph::TensorId id) const;

  Generator& g_;
  EntryArgs& args_;
  const GemmShape& shape_;
  const Stage& plan_stage_;
  graph::TensorId linear_out_;
  graph::TensorId branch_;
  std::set<graph::TensorId> local_;
};

}  // namespace fusefarm::codegen
