#include "judge/oracle_pool.h"

#include <algorithm>
#include <utility>

namespace fusefarm::judge {
namespace {

constexpr double kExcusedShareMax = 0.5;

}  // namespace

Result<OraclePool> OraclePool::open(PoolSpec spec, int pool_fd, int boundary_fd,
                                    const ModelWeights& weights) {
  if (spec.entries.empty()) {
    return Error{ErrorCode::kInvalidArgument, "a pool needs at least one entry"};
  }
  OraclePool pool(std::move(spec), weights);
  pool.layout_ = graph::boundary_layout(pool.spec_.graph, pool.spec_.bindings, pool.spec_.exposed);
  const std::int64_t set = pool.layout_.bytes;
  const auto count = static_cast<std::int64_t>(pool.spec_.entries.size());
  MappedMemory images = TRY(MappedMemory::map(pool_fd, set * count, true));
  pool.boundary_ = TRY(MappedMemory::map(boundary_fd, set * pool.spec_.boundary_sets, false));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto image =
        images.writable().subspan(static_cast<std::size_t>(i * set), static_cast<std::size_t>(set));
    TRY(verify::fill_image(pool.spec_.graph, pool.spec_.bindings, pool.layout_,
                           pool.spec_.entries[static_cast<std::size_t>(i)], image));
  }
  return pool;
}

Result<void> OraclePool::check(std::int64_t set, int entry) const {
  if (entry < 0 || static_cast<std::size_t>(entry) >= spec_.entries.size()) {
    return Error{ErrorCode::kInvalidArgument, "no pool entry " + std::to_string(entry)};
  }
  if (set < 0 || set >= spec_.boundary_sets) {
    return Error{ErrorCode::kInvalidArgument, "no launch set " + std::to_string(set)};
  }
  return {};
}

Result<void> OraclePool::make_image(int entry) {
  if (image_of_ == entry) {
    return {};
  }
  image_of_ = -1;
  // Alignment gaps stay zero.
  image_.assign(static_cast<std::size_t>(layout_.bytes), std::byte{0});
  TRY(verify::fill_image(spec_.graph, spec_.bindings, layout_,
                         spec_.entries[static_cast<std::size_t>(entry)], image_));
  image_of_ = entry;
  return {};
}

Result<const verify::Evaluated*> OraclePool::oracle(int entry) {
  TRY(make_image(entry));
  verify::InputSpec same = spec_.entries[static_cast<std::size_t>(entry)];
  same.poison = 0;
  const auto first = std::find_if(spec_.entries.begin(), spec_.entries.end(), [&](auto other) {
    other.poison = 0;
    return other == same;
  });
  const auto key = static_cast<int>(first - spec_.entries.begin());
  if (const auto found = oracles_.find(key); found != oracles_.end()) {
    return &found->second;
  }
  const verify::TensorValues inputs =
      TRY(verify::view_inputs(spec_.graph, spec_.bindings, layout_, image_, weights_->layout,
                              spec_.tensor_of, weights_->memory.bytes()));
  verify::EvaluateOptions options;
  options.exposed = spec_.exposed;
  options.threads = weights_->threads;
  options.keep_scores = spec_.whole_model;
  verify::Evaluated evaluated = TRY(verify::evaluate(spec_.graph, spec_.bindings, inputs, options));
  if (const double share = verify::excused_share(evaluated); share > kExcusedShareMax) {
    return Error{ErrorCode::kUnsupported, "pool entry " + std::to_string(entry) +
                                              " tests nothing: rounding may change the " +
                                              "routing of " + std::to_string(share) +
                                              " of its rows; use another seed"};
  }
  return &(oracles_[key] = std::move(evaluated));
}

verify::Comparison OraclePool::comparison(std::int64_t set, int entry,
                                          const verify::Evaluated& oracle) const {
  verify::Comparison comparison;
  comparison.graph = &spec_.graph;
  comparison.bindings = spec_.bindings;
  comparison.layout = &layout_;
  comparison.oracle = &oracle;
  comparison.spec = spec_.entries[static_cast<std::size_t>(entry)];
  comparison.pristine = image_;
  comparison.image = boundary_.bytes().subspan(static_cast<std::size_t>(set * layout_.bytes),
                                               static_cast<std::size_t>(layout_.bytes));
  return comparison;
}

Result<void> OraclePool::prepare(int entry) {
  TRY(check(0, entry));
  TRY(oracle(entry));
  return {};
}

Result<OraclePool::Checked> OraclePool::compare(std::int64_t set, int entry) {
  TRY(check(set, entry));
  const verify::Evaluated* expected = TRY(oracle(entry));
  const verify::Comparison c = comparison(set, entry, *expected);
  return Checked{verify::compare_outputs(c), verify::inputs_unchanged(c)};
}

Result<verify::ModelComparison> OraclePool::compare_model(std::int64_t before, std::int64_t after,
                                                          int entry) {
  TRY(check(before, entry));
  TRY(check(after, entry));
  if (!spec_.whole_model) {
    return Error{ErrorCode::kInvalidArgument, "the pool is of a region, not of a whole model"};
  }
  const verify::Evaluated* expected = TRY(oracle(entry));
  return verify::compare_model(comparison(before, entry, *expected),
                               comparison(after, entry, *expected));
}

}  // namespace fusefarm::judge
