// Regions of real models at test size, with weights, inputs, oracle, and engines to compare.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/memory_layout.h"
#include "graph/model_import.h"
#include "tests/verify/reference_engine.h"
#include "verify/compare.h"

namespace fusefarm::verify {

// A one-layer model: qwen3 at half its widths, or a small grouped-router
// MoE.
graph::Graph dense_model(graph::Phase phase, graph::DType dtype);
graph::Graph moe_model(graph::DType dtype);

graph::Bindings decode_bindings();   // 4 sequences, 24 slots each
graph::Bindings prefill_bindings();  // 1 sequence of 6 tokens, 32 slots

struct RegionClass {
  std::string name;
  std::vector<std::string> nodes;  // names of nodes, all of the region
};

const std::vector<RegionClass>& dense_classes();

// The named nodes of a model as a region.
graph::Graph region_of(const graph::Graph& model, const RegionClass& region_class);

// One region with one set of inputs, its oracle, and images.
class RegionCase {
 public:
  RegionCase(const graph::Graph& model, graph::Graph region, graph::Bindings bindings,
             InputSpec spec);

  // What an engine leaves in memory.
  std::vector<std::byte> image_of(const EngineOptions& engine) const;
  CorrectnessRecord compare(const std::vector<std::byte>& image) const;
  Comparison comparison(const std::vector<std::byte>& image) const;
  TensorValues inputs() const;

  const graph::Graph& region() const { return region_; }

  const graph::Bindings& bindings() const { return bindings_; }

  const graph::BoundaryLayout& layout() const { return layout_; }

  const std::vector<std::byte>& pristine() const { return pristine_; }

  const Evaluated& oracle() const { return oracle_; }

 private:
  graph::Graph region_;
  graph::Bindings bindings_;
  InputSpec spec_;
  graph::BoundaryLayout layout_;
  graph::WeightLayout weight_layout_;
  std::span<const std::byte> weights_;
  std::vector<std::byte> pristine_;
  Evaluated oracle_;
};

}  // namespace fusefarm::verify
