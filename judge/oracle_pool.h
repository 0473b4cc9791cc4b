// The (input, oracle) pairs of one region or model and one shape bucket. Inputs lie in memory
// shared with the worker; oracles never leave this process. The pristine image of an entry is made
// again from its seed when it is compared, so nobody who can write the shared pool can move the
// goal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/memory_layout.h"
#include "judge/mapped_memory.h"
#include "records/outcome.h"
#include "verify/inputs.h"
#include "verify/model_values.h"
#include "verify/oracle.h"

namespace fusefarm::judge {

// Borrowed; outlives the pools.
struct ModelWeights {
  graph::WeightLayout layout;
  MappedMemory memory;
  int threads = 1;
};

struct PoolSpec {
  graph::Graph graph;
  graph::Bindings bindings;
  std::vector<graph::TensorId> tensor_of, exposed;
  std::vector<verify::InputSpec> entries;
  std::int64_t boundary_sets = 0;
  bool whole_model = false;
};

class OraclePool {
 public:
  // Writes every entry's image into the pool memory.
  static Result<OraclePool> open(PoolSpec spec, int pool_fd, int boundary_fd,
                                 const ModelWeights& weights);

  Result<void> prepare(int entry);

  struct Checked {
    CorrectnessRecord record;
    bool inputs_unchanged = true;
  };

  Result<Checked> compare(std::int64_t set, int entry);
  Result<verify::ModelComparison> compare_model(std::int64_t before, std::int64_t after, int entry);

 private:
  OraclePool(PoolSpec spec, const ModelWeights& weights)
      : spec_(std::move(spec)), weights_(&weights) {}

  Result<void> check(std::int64_t set, int entry) const;
  Result<void> make_image(int entry);
  Result<const verify::Evaluated*> oracle(int entry);
  verify::Comparison comparison(std::int64_t set, int entry, const verify::Evaluated& oracle) const;

  PoolSpec spec_;
  const ModelWeights* weights_;
  graph::BoundaryLayout layout_;
  MappedMemory boundary_;
  // Of the entry compared last.
  int image_of_ = -1;
  std::vector<std::byte> image_;
  // By entry number; entries that differ in poison alone share the first one's.
  std::map<int, verify::Evaluated> oracles_;
};

}  // namespace fusefarm::judge
