// A campaign as the operator wrote it, with every default filled in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/dtype.h"
#include "records/workload.h"

namespace fusefarm {

struct SearchSpec {
  int phases = 2;
  std::vector<std::string> proposers{"builtin"};  // builtin | noop
  std::uint64_t seed = 1;
  double budget_seconds = 0;  // 0: unlimited
  int rounds_max = 2;         // ECHO rounds per region and workload
  int plans_per_round = 8;
  int region_nodes_max = 5;  // phase 1; +2 contracted nodes per phase
  int regions_per_phase = 8;
};

struct GateSpec {
  double min_gain = 0.01;       // log speed-up that is worth a rewrite
  double false_accept = 0.001;  // declared error rate of the confirmation
};

struct CampaignSpec {
  std::string name;
  std::string model_config;  // path as resolved from the campaign file
  std::int64_t layers = 0;   // 0: all
  std::vector<Workload> workloads;
  std::int64_t tensor_parallel = 1;
  graph::DType dtype = graph::DType::kBF16;
  std::string device = "cpu";
  int threads = 0;  // 0: all cores this process may use
  SearchSpec search;
  GateSpec gate;
  std::string store_path;
  std::string output_folder;
  bool sandbox_degraded_ok = false;
};

}  // namespace fusefarm
