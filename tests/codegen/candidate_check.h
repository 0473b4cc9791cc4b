// Runs a candidate and compares it with the naive evaluation of its region.
#pragma once

#include <cstdint>

#include "records/candidate.h"
#include "tests/codegen/region_fixtures.h"

namespace fusefarm::codegen::test {

constexpr int kThreads = 2;

// One element of bf16 may be off by a few roundings, since a fused candidate skips interior ones.
void expect_right(const NamedRegion& region, graph::DType dtype, const graph::Bindings& bindings,
                  const Candidate& candidate, std::uint64_t seed);

// A random schedule of the region's space, generated, compiled, run and compared.
void expect_random_schedule_right(const NamedRegion& region, graph::DType dtype,
                                  std::int64_t tokens, std::uint64_t seed);

}  // namespace fusefarm::codegen::test
