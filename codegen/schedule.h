// The schedule space of a region class: named integer parameters, a validity predicate and an
// analytic prediction to rank with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "codegen/pattern.h"
#include "graph/graph.h"

namespace fusefarm::codegen {

// By parameter name. Parameters that a region's space lacks take fixed values in the generator.
using Schedule = std::map<std::string, std::int64_t>;

struct Parameter {
  std::string name;
  std::vector<std::int64_t> values;  // ascending
};

// Measured roofs; the defaults are those of a 2-core server slice.
struct Roofs {
  double bytes_per_second = 30e9;        // from memory, all threads
  double cache_bytes_per_second = 60e9;  // from the last-level cache, all threads
  double flops_per_second = 200e9;       // f32 multiply-add, all threads
  double barrier_seconds = 2e-6;         // one step more
};

struct Prediction {
  double seconds = 0;          // of the candidate
  double unfused_seconds = 0;  // of the region as baseline steps, by the same model
  std::int64_t bytes = 0;      // moved by the candidate
  int steps = 0;               // kernel steps of the candidate
};

// What prediction and validity need to know of a region, worked out once.
struct GemmFacts {
  std::int64_t rows = 0, n = 0, k = 0, head_dim = 0, weight_width = 2;
  bool halves = false, absorbable = false, argmax = false;
};

struct RegionFacts {
  std::vector<GemmFacts> gemms;
  std::int64_t row_stages = 0, rows = 0, columns = 0;  // of row stages: most rows, widest tensor
  bool norms = false, fusable_sums = false, elementwise = false, heads = false, router = false;
  bool bf16 = false;
  std::int64_t weight_bytes = 0, boundary_bytes = 0, interior_bytes = 0;
  int nodes = 0;  // that the baseline runs as steps of their own
};

RegionFacts region_facts(const graph::Graph& region, const RegionPlan& plan,
                         const graph::Bindings& bindings);

class ScheduleSpace {
 public:
  ScheduleSpace(const graph::Graph& region, const RegionPlan& plan, const graph::Bindings& bindings,
                int threads, const Roofs& roofs = {});

  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Points of the full product, valid or not; at() decodes one.
  std::int64_t size() const;
  Schedule at(std::int64_t index) const;
  bool valid(const Schedule& schedule) const;
  // Valid points that differ in one parameter by one position.
  std::vector<Schedule> neighbours(const Schedule& schedule) const;
  Prediction predict(const Schedule& schedule) const;
  // A valid point, uniform by rejection.
  Schedule sample(Random& random) const;
  // At most `count` valid points, by predicted time (ties: by index), best first. Deterministic.
  std::vector<Schedule> ranked(std::size_t count) const;
  // A valid point near what experience says is good: where a search may start.
  Schedule start() const;

 private:
  RegionFacts facts_;
  int threads_;
  Roofs roofs_;
  std::vector<Parameter> parameters_;
};

}  // namespace fusefarm::codegen
