#include "search/region_score.h"

#include <algorithm>
#include <cmath>

#include "graph/cost.h"

namespace fusefarm::search {
namespace {

// Of the headroom that fusion alone doesn't explain, the part a good implementation reaches. A
// prior for ranking only: nothing is accepted because of it.
constexpr double kReach = 0.3;
constexpr double kSavedMax = 0.9;      // of a region's present time
constexpr double kStepSuccess = 0.97;  // per member more
// Fewer boundary elements than this per thread and threads idle.
constexpr double kElementsPerThread = 256;

bool implemented(const graph::Node& node, const Workload& workload, const ScoreInputs& inputs) {
  return node.op == graph::OpKind::kRegion && inputs.implementations != nullptr &&
         inputs.implementations->contains({signature_of(node), workload.name});
}

CellEstimate estimate_cell(const RegionGroup& group, const Workload& workload,
                           const ScoreInputs& inputs) {
  CellEstimate cell;
  cell.workload = workload;
  const graph::Bindings bindings = workload.bindings();
  const Roofs& roofs = inputs.profile->roofs();
  const auto count = static_cast<double>(group.occurrences.size());
  double bytes_apart = 0;
  for (const graph::NodeSet& set : group.occurrences) {
    cell.now_seconds += inputs.profile->seconds_of(workload.name, set.nodes);
    for (const graph::NodeId id : set.nodes) {
      const graph::Node& node = inputs.model->node(id);
      if (!implemented(node, workload, inputs)) {
        cell.open_seconds += inputs.profile->node_seconds(workload.name, id);
      }
      if (!graph::is_view(node.op)) {
        bytes_apart += static_cast<double>(graph::node_cost(*inputs.model, node, bindings).bytes());
      }
    }
  }
  const graph::Cost whole = graph::region_cost(*group.region, bindings);
  const double bytes = count * static_cast<double>(whole.bytes());
  cell.floor_seconds =
      std::max(bytes / roofs.bytes_per_second, count * whole.flops / roofs.flops_per_second);
  cell.floor_seconds = std::min(cell.floor_seconds, cell.now_seconds);
  const double launches = count * std::max(0, group.members - 1);
  cell.elided_seconds =
      launches * roofs.launch_seconds + std::max(0.0, bytes_apart - bytes) / roofs.bytes_per_second;
  const double room = cell.now_seconds - cell.floor_seconds;
  const double elided = std::min(cell.elided_seconds, room);
  // What was searched before has little left for another implementation to reach.
  cell.saved_seconds =
      std::min(elided + kReach * cell.open_share() * (room - elided), kSavedMax * cell.now_seconds);
  const double step = inputs.profile->step_seconds(workload.name);
  const bool done = group.revisit && cell.open_seconds <= 0;
  if (step > 0 && !done) {
    cell.share = workload.weight * cell.now_seconds / step;
    cell.value = workload.weight * cell.saved_seconds / step;
  }
  return cell;
}

double parallelism_of(const RegionGroup& group, const graph::Bindings& bindings, int threads) {
  double widest = 0;
  for (const graph::TensorId id : group.region->outputs) {
    const graph::Tensor& tensor = group.region->tensor(id);
    widest = std::max(widest, static_cast<double>(graph::element_count(tensor, bindings)));
  }
  return std::min(1.0, widest / (kElementsPerThread * std::max(1, threads)));
}

}  // namespace

Beta pattern_prior(int members) {
  return beta_prior(std::pow(kStepSuccess, std::max(0, members - 1)));
}

std::string pattern_key(const RegionGroup& group) { return "pattern/" + group.pattern; }

RegionEstimate estimate_region(const RegionGroup& group, const ScoreInputs& inputs) {
  RegionEstimate estimate;
  estimate.p_ok = inputs.posteriors->of(pattern_key(group), pattern_prior(group.members)).mean();
  double value = 0;
  for (const Workload& workload : *inputs.workloads) {
    CellEstimate cell = estimate_cell(group, workload, inputs);
    value += cell.value;
    estimate.parallelism =
        std::min(estimate.parallelism, parallelism_of(group, workload.bindings(), inputs.threads));
    estimate.cells.push_back(std::move(cell));
  }
  estimate.value = value * estimate.p_ok * estimate.parallelism;
  estimate.cost_seconds = inputs.cell_cost_seconds *
                          static_cast<double>(std::max<std::size_t>(1, estimate.cells.size()));
  return estimate;
}

}  // namespace fusefarm::search
