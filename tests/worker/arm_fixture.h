// A sandbox over the programs of this build, and hand-written programs to run in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "records/candidate.h"
#include "records/program.h"
#include "worker/arm.h"
#include "worker/build_pool.h"
#include "worker/sandbox.h"
#include "worker/shared_memory.h"

namespace fusefarm::worker {

constexpr std::int64_t kRows = 64, kColumns = 16;

// One candidate step `entry` over y = f(x), both f32 [kRows, kColumns] in boundary memory, blocks
// of one row each.
Program row_program(const std::string& entry);

// The source of a block function on that program; `body` sees `const float* x`, `float* y`, `row`.
Candidate row_candidate(const std::string& body, const std::string& before = "");

class ArmFixture : public ::testing::Test {
 protected:
  // Fails, and does not skip, where the sandbox does not work: the farm needs it.
  void SetUp() override;

  // An arm running row_candidate(body), or the verdict its start ended with.
  std::optional<ArmProcess> start(const Candidate& candidate, std::optional<Verdict>& fault);
  std::optional<ArmProcess> start(const std::string& body);

  // The sandbox, or a failed test.
  const Sandbox& sandbox() const { return *sandbox_; }

  float* x() { return floats(0); }

  float* y() { return floats(kRows * kColumns); }

  std::optional<Sandbox> sandbox_;
  std::optional<BuildPool> pool_;
  ArmHost host_;
  SharedMemory boundary_;

 private:
  float* floats(std::int64_t at);
};

std::string program_folder();

}  // namespace fusefarm::worker
