// Parts of the oracle: the ops one by one, exact values and first-order errors without the rounding
// of the result, which the caller adds. Shapes are checked by the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "verify/values.h"

namespace fusefarm::verify {

struct Integers {
  std::vector<std::int64_t> shape;
  std::vector<std::int32_t> value;
  // By row: rounding upstream may make an honest implementation choose otherwise.
  std::vector<bool> uncertain;
};

Values add_values(const Values& a, const Values& b, graph::DType dtype);
Values rms_norm(const Values& x, const Values& weight, double eps, graph::DType dtype);
Values silu_mul(const Values& gate_up, graph::DType dtype);
Values cast(const Values& x, graph::DType dtype);

struct RopeRule {
  double theta = 1e4;
  std::int64_t rotary_dim = 0;
  bool interleaved = false;
  bool llama3 = false;
  double factor = 1, low_freq = 1, high_freq = 4, original_max = 0;
};

RopeRule rope_rule(const graph::Attrs& attrs, std::int64_t head_dim);
// Rotation per position of pair i, in radians.
double rope_frequency(const RopeRule& rule, std::int64_t pair);
Values rope(const Values& x, const Integers& positions, const RopeRule& rule, graph::DType dtype);

struct AttentionShape {
  std::int64_t tokens = 0, sequences = 1, slots = 0, heads = 0, kv_heads = 0, head_dim = 0;
  double scale = 1;
  bool causal = true;
};

Values attention(const Values& q, const StateValues& keys, const StateValues& values,
                 const Integers& positions, const AttentionShape& shape, graph::DType dtype,
                 int threads);

// The visible cache rows of a token: [first, last).
struct VisibleRows {
  std::int64_t first = 0, last = 0;
};

VisibleRows visible_rows(const Integers& positions, const AttentionShape& shape,
                         std::int64_t token);

struct Routed {
  Integers ids;
  Values weights;
};

// Fills `routing` (attributes set by the caller) and returns the oracle's own choice.
Routed router_select(const Values& scores, const Values* bias, OracleRouting& routing);
// Weights of a given choice of experts of one token, with tolerance: weight[j], tolerance[j].
void routing_weights(const OracleRouting& routing, std::size_t token,
                     std::span<const std::int32_t> ids, std::vector<double>& weight,
                     std::vector<double>& tolerance);

Values expert_linear(const Values& x, const Integers& ids, const TensorView& weight,
                     graph::DType dtype, int threads);
Values moe_finalize(const Values& y, const Values& weights, graph::DType dtype);

OracleChoice argmax(const Values& scores, Integers& best);

// Runs job(0) .. job(count - 1), on up to `threads` threads.
void run_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& job);

}  // namespace fusefarm::verify
