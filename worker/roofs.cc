#include "worker/roofs.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <functional>
#include <thread>

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

namespace fusefarm::worker {
namespace {

constexpr int kPasses = 6;

// Seconds of `work(thread)` on all cores at once, the best of several.
double best_seconds(const std::vector<int>& cores, const Clock& clock,
                    const std::function<void(std::size_t)>& work) {
  std::barrier gate(static_cast<std::ptrdiff_t>(cores.size()));
  Duration best = Duration::max();
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < cores.size(); ++t) {
    threads.emplace_back([&, t] {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<std::size_t>(cores[t]), &set);
      ::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set);
      for (int pass = 0; pass < kPasses; ++pass) {
        gate.arrive_and_wait();
        const TimePoint start = clock.now();
        work(t);
        gate.arrive_and_wait();
        if (t == 0) {
          best = std::min(best, clock.now() - start);
        }
      }
    });
  }
  threads.clear();
  return seconds(best);
}

#if defined(__x86_64__)

// Sums in eight independent chains, so that loads and not additions are the limit.
__attribute__((target("avx2,fma"))) float read_all(const float* data, std::size_t count) {
  __m256 sums[8] = {};
  for (std::size_t i = 0; i + 64 <= count; i += 64) {
#pragma GCC unroll 8  // or the sums live in memory, and their latency is what is measured
    for (std::size_t j = 0; j < 8; ++j) {
      sums[j] = _mm256_add_ps(sums[j], _mm256_loadu_ps(data + i + (8 * j)));
    }
  }
  float total = 0;
  for (const __m256& sum : sums) {
    total += sum[0];
  }
  return total;
}

// Ten independent chains hide the latency of a fused multiply-add.
__attribute__((target("avx2,fma"))) float multiply_add(std::size_t rounds) {
  __m256 a[10];
  for (std::size_t j = 0; j < 10; ++j) {
    a[j] = _mm256_set1_ps(static_cast<float>(j));
  }
  const __m256 x = _mm256_set1_ps(0.999F);
  const __m256 y = _mm256_set1_ps(0.001F);
  for (std::size_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 10  // as above
    for (std::size_t j = 0; j < 10; ++j) {
      a[j] = _mm256_fmadd_ps(a[j], x, y);
    }
  }
  float total = 0;
  for (const __m256& value : a) {
    total += value[0];
  }
  return total;
}

bool can_measure() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

// Twice as wide vectors may do twice as much.
double width_factor() { return __builtin_cpu_supports("avx512f") != 0 ? 2.0 : 1.0; }

#else

float read_all(const float*, std::size_t) { return 0; }

float multiply_add(std::size_t) { return 0; }

bool can_measure() { return false; }

double width_factor() { return 1; }

#endif

}  // namespace

verify::Roofs measure_roofs(const std::vector<int>& cores, std::int64_t cache_bytes,
                            const Clock& clock) {
  verify::Roofs roofs;  // zero: unknown, no floor
  if (!can_measure()) {
    return roofs;
  }
  constexpr std::size_t kFloats = (96U << 20) / sizeof(float);  // of each core: beyond any cache
  constexpr std::size_t kCached = (16U << 10) / sizeof(float);  // first level
  constexpr std::size_t kRounds = 1'000'000;
  const auto count = static_cast<double>(cores.size());
  std::vector<std::vector<float>> source(cores.size(), std::vector<float>(kFloats, 1.0F));
  std::vector<std::vector<float>> target(cores.size(), std::vector<float>(kFloats / 2, 0.0F));
  std::atomic<float> sink{0};  // keeps the results alive
  roofs.cache_bytes = cache_bytes;
  const double read = best_seconds(
      cores, clock, [&](std::size_t t) { sink = read_all(source[t].data(), kFloats); });
  const double copy = best_seconds(cores, clock, [&](std::size_t t) {
    std::memcpy(target[t].data(), source[t].data(), kFloats / 2 * sizeof(float));
  });
  // Both move the same number of bytes.
  roofs.memory_bytes_per_second =
      count * static_cast<double>(kFloats * sizeof(float)) / std::min(read, copy);
  constexpr int kRepeats = 1024;
  const double cached = best_seconds(cores, clock, [&](std::size_t t) {
    for (int i = 0; i < kRepeats; ++i) {
      sink = read_all(source[t].data(), kCached);
    }
  });
  roofs.cache_bytes_per_second =
      width_factor() * count * static_cast<double>(kRepeats * kCached * sizeof(float)) / cached;
  const double flops =
      best_seconds(cores, clock, [&](std::size_t) { sink = multiply_add(kRounds); });
  constexpr double kFlopsPerRound = 10 * 8 * 2;
  roofs.flops_per_second =
      width_factor() * count * kFlopsPerRound * static_cast<double>(kRounds) / flops;
  return roofs;
}

}  // namespace fusefarm::worker
