// The operations of model graphs, per rank. docs/formats.md lists inputs, outputs and attributes of
// each; graph/infer.cc checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fusefarm::graph {

// Inputs -> outputs; names of attributes in {}. R is any leading row dim, D a head dim.
enum class OpKind : std::uint8_t {
  kEmbedding,     // ids i32[T], table[V,H] -> [T,H]  {vocab_begin: first row held by this rank}
  kRmsNorm,       // x[..,N], weight[N] -> [..,N]     {eps}; y = x * rsqrt(mean(x^2) + eps) * w
  kAdd,           // a, b -> a + b                    (same shape)
  kLinear,        // x[R,K], weight[N,K], (bias[N]) -> [R,N]; y = x W^T (+ bias)
  kSplit,         // x[T,(q+2k)*D] -> q[T,q,D], k[T,k,D], v[T,k,D]; a view: costs nothing
  kRope,          // x[T,h,D], positions i32[T] -> [T,h,D] {theta, rotary_dim, interleaved, and
                  //   scaling, scaling_factor, low_freq_factor, high_freq_factor,
                  //   original_max_position}; halves pairing unless interleaved
  kKvWrite,       // k[T,k,D], v[T,k,D], slots i32[T], kc[S,k,D], vc[S,k,D] -> kc', vc'
                  //   side effect: rows slots[t] are replaced; outputs alias inputs 3 and 4
  kAttention,     // q[T,q,D], kc'[S,k,D], vc'[S,k,D], positions i32[T] -> [T,q*D]
                  //   {scale, causal}; sequence of token t is t / (T/B), its slots are
                  //   [b*S/B, (b+1)*S/B); it sees slots up to positions[t] when causal, else up to
                  //   the last position of its own sequence's tokens
  kSiluMul,       // gate_up[R,2*I] -> [R,I]; silu(x[:, :I]) * x[:, I:]
  kRouterSelect,  // scores f32[T,E], (bias f32[E]) -> ids i32[T,k], weights f32[T,k]
                  //   {top_k, groups, top_groups, renormalise, scale, function: sigmoid|softmax};
                  //   ties go to the lower index; a group's score is the sum of its two best
  kExpertLinear,  // x[R,K] (R = T, or T*k already expanded), ids i32[T,k], weight[E,N,K] -> [T*k,N]
  kMoeFinalize,   // y[T*k,H], weights f32[T,k] -> [T,H]; weighted sum over k
  kCast,          // x -> the same values in the output's dtype
  kSelectRows,    // x[T,H] -> [L,H]; the last token of each sequence (L = B)
  kArgmax,        // logits[L,V] -> ids i32[L]; ties go to the lower index
  kAllReduce,     // x -> sum over ranks             {group}
  kAllGather,     // x[L,V/tp] -> [L,V]              {group}
  kRegion,        // contracted: an accepted fused region; `body` holds what it computes
};

const char* to_string(OpKind op);
std::optional<OpKind> op_from(std::string_view name);
bool is_collective(OpKind op);
bool is_view(OpKind op);  // produces no traffic of its own

}  // namespace fusefarm::graph
