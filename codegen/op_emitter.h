// Row-wise ops as loops over one row's slice of columns. The same code serves a whole row of a row
// stage and the block of columns that a GEMM's epilogue has in its accumulators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/generator.h"
#include "graph/graph.h"

namespace fusefarm::codegen {

// A place that a value is stored to: "pointer + c", or scattered with a stride between elements.
struct Sink {
  std::string pointer;
  std::int64_t scatter = 0;  // 0: contiguous
};

// How the op at hand sees its tensors: as pointers to the first element of the row's slice.
class SliceContext {
 public:
  virtual ~SliceContext() = default;
  virtual std::string read(graph::TensorId id) = 0;
  // Declares a local array when the value is read again in this stage.
  virtual std::vector<Sink> sinks(graph::TensorId id) = 0;
  virtual std::int64_t width(graph::TensorId id) const = 0;  // columns of the slice, padded
  virtual std::string bound(graph::TensorId id) const = 0;   // columns that exist, as text
  // silu_mul: from a gate element to its up element.
  virtual std::int64_t half_offset(graph::TensorId id) const = 0;
  // Parameters, positions, slots and caches: memory as it is, not sliced.
  virtual std::string whole(graph::TensorId id) = 0;
  virtual std::string angles(const graph::Node& rope) = 0;  // pointer to [cos | sin] of the row
  virtual int stage() const = 0;
  virtual std::string row() const = 0;
};

class OpEmitter {
 public:
  OpEmitter(Generator& generator, SliceContext& slice) : g_(generator), slice_(slice) {}

  void emit(const graph::Node& node);
  // Stores a value that is already at hand to wherever others look for it.
  void emit_copy(graph::TensorId id);

 private:
  void emit_loop(graph::TensorId out, const std::string& expression, std::int64_t column = 0);
  void emit_rms_norm(const graph::Node& node);
  void emit_rope(const graph::Node& node);
  void emit_kv_write(const graph::Node& node);
  void emit_silu_mul(const graph::Node& node);
  void emit_gather(const graph::Node& node);
  void emit_moe_finalize(const graph::Node& node);
  void emit_stores(const std::vector<Sink>& sinks, const std::string& value,
                   const std::string& column);
  bool wants_sums(graph::TensorId id) const;

  Generator& g_;
  SliceContext& slice_;
  std::map<graph::TensorId, std::string> sums_;  // sum of squares gathered while producing
};

// Router selection is no loop over columns: a text of its own.
void emit_router_select(Generator& generator, SliceContext& slice, const graph::Node& node);
std::string_view router_source();

}  // namespace fusefarm::codegen
