// How far an honest implementation may be from the exact value of a graph.
//
// The reference is the exact (fp64) value R of the graph on the already rounded inputs, without any
// interior rounding. An honest implementation rounds some or all of the declared rounding points
// (each interior tensor, in its dtype) and accumulates in f32 in any order. Each element carries
//   tolerance  a bound on |y - R|, propagated to first order through |J|
//   radius     root of the summed squares of all bounded, independent rounding errors that reach it
// Rounding point of dtype d:   tolerance += u_d |v|,  radius^2 += (u_d |v|)^2
// Contraction sum_k w_k x_k:   tolerance  = min(sum |w| tolerance_k, kConfidence radius) + f32 term
//                              radius^2   = sum w^2 radius_k^2 + f32 term^2
//   f32 term of length n: kConfidence sqrt(n) u_f32 S (tolerance), sqrt(n) u_f32 S (radius),
//   S = sum |w||x|.
// A sum of n independent zero-mean errors bounded by c_k stays below lambda sqrt(sum c_k^2) except
// with probability 2 exp(-lambda^2 / 2) (Hoeffding 1963; for rounding errors Higham & Mary 2019,
// SIAM J. Sci. Comput. 41(5), A2815). Roundings to nearest are nearer to uniform than to the two
// point worst case, so lambda = 4 is about 7 standard deviations of what happens. The linear sum is
// kept where it is smaller (short sums), because it always holds.
#pragma once

#include "graph/dtype.h"

namespace fusefarm::verify {

constexpr double kConfidence = 4.0;

// Relative error allowed to one elementwise f32 evaluation of a transcendental or a quotient (exp,
// rsqrt, sigmoid, sin): 4 unit roundoffs, as vectorised math libraries state it (<= 4 ulp).
constexpr double kElementwiseF32 = 4.0 * 0x1.0p-24;

// Smallest normal number of f32 and bf16: an implementation may flush what is below.
constexpr double kUnderflow = 0x1.0p-126;

// Largest finite value.
double largest_finite(graph::DType dtype);

// `value` rounded to nearest even in `dtype`; overflow gives infinity.
double round_to(double value, graph::DType dtype);

}  // namespace fusefarm::verify
