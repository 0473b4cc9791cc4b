// What this host is: cores, caches, names. Read from the kernel, once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fusefarm::worker {

// The cores this process may run on, ascending, at most `count` of them (0: all).
std::vector<int> usable_cores(int count);

// "cpu:<model name>:<cores>".
std::string device_class(std::size_t cores);

// Bytes of the largest cache of the first usable core; 32 MiB when the kernel does not say.
std::int64_t last_level_cache_bytes();

// OpenBLAS's name for the best kernels of this CPU among those it has had for long, to force when
// its own detection ends at generic ones; empty when the CPU has nothing to force.
std::string best_blas_core();
// Kernels without AVX2, which an AVX2 machine must not run.
bool is_slow_blas_core(const std::string& name);

}  // namespace fusefarm::worker
