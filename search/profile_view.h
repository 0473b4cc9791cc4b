// Where a step's time goes in the current graph version: the measured profile of version 0, carried
// along as nodes are contracted and accepted regions become faster.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "records/job.h"

namespace fusefarm::search {

// Measured limits of the device, for headroom.
struct Roofs {
  double bytes_per_second = 1;
  double flops_per_second = 1;
  double launch_seconds = 0;  // one step's start, with its barrier
};

class ProfileView {
 public:
  ProfileView() = default;
  explicit ProfileView(const ProfileResult& profile);

  double node_seconds(const std::string& workload, graph::NodeId node) const;
  double seconds_of(const std::string& workload, const std::vector<graph::NodeId>& nodes) const;
  double step_seconds(const std::string& workload) const;

  const Roofs& roofs() const { return roofs_; }

  // Nodes became one, whose time in a workload falls by exp(-gain); absent workload: no gain.
  void contract(const std::vector<graph::NodeId>& members, graph::NodeId made,
                const std::map<std::string, double>& log_gain);

 private:
  struct PerWorkload {
    double step_seconds = 0;
    std::map<graph::NodeId, double> seconds;
  };

  std::map<std::string, PerWorkload> workloads_;
  Roofs roofs_;
};

}  // namespace fusefarm::search
