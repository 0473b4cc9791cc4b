#include "search/profile_view.h"

#include <algorithm>
#include <cmath>

namespace fusefarm::search {
namespace {

// The quickest node that takes any time bounds what starting a step costs.
constexpr double kLaunchSecondsMin = 0.5e-6;
constexpr double kLaunchSecondsMax = 20e-6;

}  // namespace

ProfileView::ProfileView(const ProfileResult& profile) {
  double quickest = kLaunchSecondsMax;
  for (const WorkloadProfile& workload : profile.workloads) {
    PerWorkload& entry = workloads_[workload.workload];
    double sum = 0;
    for (const NodeProfile& node : workload.nodes) {
      entry.seconds[node.node] = node.seconds;
      sum += node.seconds;
      if (node.seconds > 0) {
        quickest = std::min(quickest, node.seconds);
      }
    }
    entry.step_seconds = std::max(workload.step_seconds, sum);
  }
  roofs_.bytes_per_second = std::max(1.0, profile.copy_bytes_per_second);
  roofs_.flops_per_second = std::max(1.0, profile.flops_per_second);
  roofs_.launch_seconds = std::max(kLaunchSecondsMin, quickest);
}

double ProfileView::node_seconds(const std::string& workload, graph::NodeId node) const {
  const auto found = workloads_.find(workload);
  if (found == workloads_.end()) {
    return 0;
  }
  const auto entry = found->second.seconds.find(node);
  return entry == found->second.seconds.end() ? 0 : entry->second;
}

double ProfileView::seconds_of(const std::string& workload,
                               const std::vector<graph::NodeId>& nodes) const {
  double sum = 0;
  for (const graph::NodeId node : nodes) {
    sum += node_seconds(workload, node);
  }
  return sum;
}

double ProfileView::step_seconds(const std::string& workload) const {
  const auto found = workloads_.find(workload);
  return found == workloads_.end() ? 0 : found->second.step_seconds;
}

void ProfileView::contract(const std::vector<graph::NodeId>& members, graph::NodeId made,
                           const std::map<std::string, double>& log_gain) {
  for (auto& [name, workload] : workloads_) {
    double before = 0;
    for (const graph::NodeId member : members) {
      const auto entry = workload.seconds.find(member);
      if (entry == workload.seconds.end()) {
        continue;
      }
      before += entry->second;
      workload.seconds.erase(entry);
    }
    const auto gain = log_gain.find(name);
    const double after = gain == log_gain.end() ? before : before * std::exp(-gain->second);
    workload.seconds[made] = after;
    workload.step_seconds -= before - after;
  }
}

}  // namespace fusefarm::search
