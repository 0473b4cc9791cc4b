// The statistics behind the gate. Distribution-free: only signs and order of paired differences.
#pragma once

#include <span>
#include <vector>

#include "records/measurement.h"

namespace fusefarm::verify {

// Log speed-up of one quad: mean log time per launch of the incumbent's slots minus the
// candidate's.
double quad_log_ratio(const Quad& quad);

// Of all quads that are not discarded, in order. Block medians: one value per block that has any.
std::vector<double> log_ratios(const PairedMeasurement& measurement);
std::vector<double> block_medians(const PairedMeasurement& measurement);

double median(std::vector<double> values);  // values not empty
// Median of all pairwise means (Hodges & Lehmann 1963).
double hodges_lehmann(std::span<const double> values);

// One-sided sign e-process for H0: P(d > threshold) <= 1/2, n differences of which k exceed it:
//   e = 2^n * 2 * integral from 1/2 to 1 of p^k (1-p)^(n-k) dp
// A mixture of likelihood ratios, so a nonnegative supermartingale under H0: it exceeds 1/alpha at
// any time with probability at most alpha (Ville 1939). Returns log e.
double log_sign_e_value(int n, int k);
// Two-sided, for confidence sequences: e = 2^n * integral from 0 to 1, of the same.
double log_sign_e_value_two_sided(int n, int k);

// Anytime-valid confidence interval of the median by inversion of the two-sided e-process: order
// statistics. Infinite ends when there are too few values. coverage in (0,1).
Interval median_interval(std::span<const double> values, double coverage);

// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x);

struct WeightedInterval {
  double weight = 1;  // share of serving time before the change
  Interval log_speedup;
};

// Log speed-up of the whole: -log sum w exp(-g). Ends by the method of variance estimates recovery
// (Zou & Donner 2008): deviations of independent parts add in squares.
Interval combine(std::span<const WeightedInterval> parts);

}  // namespace fusefarm::verify
