// The state of one generate() call: where each tensor of the region lies, the plan and the text.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/pattern.h"
#include "codegen/schedule.h"
#include "codegen/source_text.h"
#include "graph/graph.h"
#include "records/launch_plan.h"

namespace fusefarm::codegen {

// Tensor and dim arguments of one entry. Each becomes a pointer p<i> with a row stride s<i>.
class EntryArgs {
 public:
  // Index of the tensor argument; `type` is its element type in the source.
  int tensor(const LaunchArg& arg, const std::string& type, bool written);
  void declare(SourceText& text) const;

  const std::vector<LaunchArg>& args() const { return args_; }

 private:
  std::vector<LaunchArg> args_;
  std::vector<std::string> types_;
  std::vector<bool> written_;
};

// Where a tensor's rows can be read or written in memory.
struct Place {
  LaunchArg arg;
  graph::DType dtype = graph::DType::kF32;
  std::int64_t column = 0;  // of the tensor in that memory
};

// How x of a GEMM is kept: f32, rows with padding, or tiles of tile_rows interleaved rows.
struct InputPanel {
  int buffer = -1;  // index into the plan's buffers; -1: local to each block
  bool tiles = false;
  std::int64_t tile_rows = 1, rows = 0, columns = 0;
  std::int64_t row_stride() const;  // floats between rows (not tiles)
  std::int64_t floats() const;      // in all
};

struct Generator {
  Generator(const graph::Graph& graph, const RegionPlan& region_plan, const Schedule& point,
            int thread_count, const graph::Bindings& shape);

  std::int64_t at(const std::string& parameter, std::int64_t otherwise = 0) const;
  std::int64_t columns(graph::TensorId id) const;

  std::int64_t rows(graph::TensorId id) const {
    return bindings.of(region.tensor(id).shape.front());
  }

  int input_index(graph::TensorId id) const;
  int output_index(graph::TensorId id) const;  // -1: none

  // The tensor that holds the elements: views are followed, except for the heads of a GEMM's
  // epilogue, which are values of their own.
  graph::TensorId base(graph::TensorId id) const;
  std::int64_t base_column(graph::TensorId id) const;
  int stage_of(graph::TensorId id) const;                 // -1: region input
  bool used_later(graph::TensorId id, int stage) const;   // read from memory by a later stage
  bool used_inside(graph::TensorId id, int stage) const;  // read by another op of the same stage

  // Memory to read a tensor from that an earlier stage, or the caller, has written.
  Place read_place(graph::TensorId id);
  // Memory that the stage producing the tensor must write: outputs, their views, scratch.
  std::vector<std::pair<graph::TensorId, Place>> write_places(graph::TensorId id);
  int scratch(graph::DType dtype, graph::Dim dim, std::int64_t columns_in_row);

  const graph::Graph& region;
  const RegionPlan& plan;
  const Schedule& schedule;
  int threads;
  graph::Bindings bindings;

  LaunchPlan launch;
  SourceText text;
  std::map<graph::TensorId, int> scratch_of;       // f32 rows of a tensor that is no output
  std::map<graph::TensorId, InputPanel> panel_of;  // x of a GEMM, written by its producer
  std::map<std::vector<double>, int> frequencies;  // rope frequency tables in the source
  std::map<int, int> angle_buffer;  // frequency table -> scratch with [rows][cos | sin]
  std::set<graph::NodeId> head_splits;

 private:
  std::map<graph::TensorId, int> stage_;
  std::map<graph::NodeId, int> node_stage_;
};

const char* source_type(graph::DType dtype);  // "u16", "float", "int"

}  // namespace fusefarm::codegen
