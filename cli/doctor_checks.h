// What `fusefarm doctor` looks at. Facts are gathered first and judged by a pure function, so that
// its words can be tested on any host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fusefarm::cli {

struct HostFacts {
  std::string cpu_model;
  int cores = 0;  // that this process may use
  bool avx2_and_fma = false;
  double load = 0;                // average of the last minute
  std::int64_t memory_bytes = 0;  // available, bounded by the cgroup
  std::int64_t disk_bytes = 0;    // free in the current folder
  bool folder_writable = false;   // the current one
  std::string folder;
  std::vector<std::string> missing_programs;
  Result<std::string> compiler = std::string();
  Result<std::string> sandbox = std::string();  // level
  std::string blas_core;                        // forced kernel set; "": OpenBLAS decides
  std::string huge_pages;                       // setting of transparent huge pages; "": unknown
  std::string sqlite;
  bool gpu = false;           // a device or driver is visible
  bool cuda_headers = false;  // at build time
};

enum class CheckState : std::uint8_t { kOk, kInfo, kWarn, kFail };

const char* to_string(CheckState state);

struct Check {
  std::string name;
  CheckState state = CheckState::kOk;
  std::string detail;
  std::string remedy;  // "" when there is nothing to do
};

HostFacts gather_facts();
std::vector<Check> assess(const HostFacts& facts);

}  // namespace fusefarm::cli
