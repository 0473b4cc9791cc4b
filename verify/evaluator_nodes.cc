#include <algorithm>
#include <cmath>
#include <numeric>

#include "verify/contraction.h"
#include "verify/evaluator.h"

namespace fusefarm::verify {

// A row outside of this rank's part of the table is zero: the ranks' sum has it.
Result<void> Evaluator::embedding(const graph::Node& node) {
  const Integers& ids = integers(node, 0);
  const TensorView* table = TRY(weight(node, 1));
  const auto width = static_cast<std::size_t>(table->shape[1]);
  const std::int64_t begin = node.attrs.integer("vocab_begin");
  Values out;
  out.value.assign(ids.value.size() * width, 0);
  for (std::size_t t = 0; t < ids.value.size(); ++t) {
    const std::int64_t row = ids.value[t] - begin;
    if (ids.value[t] < 0) {
      return node_error(node, "a token id is negative");
    }
    if (row < 0 || row >= table->shape[0]) {
      continue;
    }
    load_elements(*table, static_cast<std::size_t>(row) * width, width, &out.value[t * width]);
  }
  put(node, 0, std::move(out), dtype_of(node) != table->dtype);
  return {};
}

Result<void> Evaluator::linear(const graph::Node& node) {
  const TensorView* w = TRY(weight(node, 1));
  const Values& x = values(node, 0);
  const auto n = static_cast<std::size_t>(w->shape[0]);
  const auto k = static_cast<std::size_t>(w->shape[1]);
  Values y = make_values(dtype_of(node), shape_of(node));
  std::vector<std::size_t> rows(x.size() / k);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  contract(x, rows, {w, 0, n, k}, y, rows, options_.threads);
  if (node.inputs.size() > 2) {
    const Values& bias = values(node, 2);
    const double u = graph::unit_roundoff(graph::DType::kF32);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y.value[i] += bias.value[i % n];
      y.tolerance[i] += u * std::fabs(y.value[i]);
      y.radius[i] = root_sum(y.radius[i], u * y.value[i]);
    }
  }
  put(node, 0, std::move(y));
  return {};
}

void Evaluator::split(const graph::Node& node) {
  const Values& x = values(node, 0);
  std::size_t column = 0;
  for (std::size_t output = 0; output < node.outputs.size(); ++output) {
    const std::vector<std::int64_t> shape = shape_of(node, output);
    const std::size_t width = count_of(shape) / static_cast<std::size_t>(shape[0]);
    Values part;
    const auto copy = [&](const std::vector<double>& from, std::vector<double>& to) {
      for (std::size_t row = 0; row < x.rows() && !from.empty(); ++row) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * x.width() + column);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
      }
    };
    copy(x.value, part.value);
    copy(x.tolerance, part.tolerance);
    copy(x.radius, part.radius);
    put(node, output, std::move(part), false);
    column += width;
  }
}

Result<void> Evaluator::kv_write(const graph::Node& node) {
  const Integers& slots = integers(node, 2);
  for (std::size_t side = 0; side < 2; ++side) {
    const Values& x = values(node, side);
    StateValues next = state(node, 3 + side);
    const bool rounds = graph::unit_roundoff(next.base.dtype) > graph::unit_roundoff(x.dtype);
    Values rows = cast(x, next.base.dtype);
    allocate_errors(rows);
    if (rounds) {
      add_rounding(rows);
    }
    const std::size_t before =
        next.written.size() / (rows.size() / std::max<std::size_t>(slots.value.size(), 1));
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(next.written.value, rows.value);
    append(next.written.tolerance, rows.tolerance);
    append(next.written.radius, rows.radius);
    for (std::size_t t = 0; t < slots.value.size(); ++t) {
      if (slots.value[t] < 0 || slots.value[t] >= next.base.shape[0]) {
        return node_error(node, "slot " + std::to_string(slots.value[t]) + " is outside the cache");
      }
      next.row_of[slots.value[t]] = before + t;
    }
    held_[node.outputs[side]].state = std::move(next);
  }
  return {};
}

Result<void> Evaluator::attend(const graph::Node& node) {
  const Values& q = values(node, 0);
  const StateValues& keys = state(node, 1);
  const StateValues& cached = state(node, 2);
  AttentionShape shape;
  shape.tokens = q.shape[0];
  shape.sequences = bindings_.sequences;
  shape.slots = keys.base.shape[0];
  shape.heads = q.shape[1];
  shape.kv_heads = keys.base.shape[1];
  shape.head_dim = q.shape[2];
  shape.scale = node.attrs.real("scale", 1 / std::sqrt(static_cast<double>(shape.head_dim)));
  shape.causal = node.attrs.integer("causal", 1) != 0;
  if (shape.sequences < 1 || shape.tokens % shape.sequences != 0 ||
      shape.slots % shape.sequences != 0 || shape.heads % shape.kv_heads != 0) {
    return node_error(node, "tokens, slots or heads are not shared evenly");
  }
  const Integers& positions = integers(node, 3);
  for (const std::int32_t position : positions.value) {
    if (position < 0 || position >= shape.slots / shape.sequences) {
      return node_error(node, "position " + std::to_string(position) + " is outside its sequence");
    }
  }
  put(node, 0, attention(q, keys, cached, positions, shape, dtype_of(node), options_.threads));
  return {};
}

Result<void> Evaluator::route(const graph::Node& node) {
  const Values& scores = values(node, 0);
  OracleRouting routing;
  routing.ids = node.outputs[0];
  routing.weights = node.outputs[1];
  routing.experts = scores.shape.back();
  routing.top_k = node.attrs.integer("top_k", 1);
  routing.groups = node.attrs.integer("groups", 1);
  routing.top_groups = node.attrs.integer("top_groups", routing.groups);
  routing.renormalise = node.attrs.integer("renormalise") != 0;
  routing.scale = node.attrs.real("scale", 1);
  routing.sigmoid = node.attrs.text("function", "softmax") == "sigmoid";
  if (routing.groups < 1 || routing.experts % routing.groups != 0 || routing.top_k < 1 ||
      routing.top_k >
          routing.experts / routing.groups * std::max<std::int64_t>(routing.top_groups, 1)) {
    return node_error(node, "experts, groups and top_k do not fit each other");
  }
  const Values* bias = node.inputs.size() > 1 ? &values(node, 1) : nullptr;
  Routed routed = router_select(scores, bias, routing);
  held_[node.outputs[0]].integers = std::move(routed.ids);
  put(node, 1, std::move(routed.weights));
  if (is_kept(routing.ids) || is_kept(routing.weights)) {
    result_.routings.push_back(std::move(routing));
  }
  return {};
}

Result<void> Evaluator::experts(const graph::Node& node) {
  const TensorView* w = TRY(weight(node, 2));
  const Integers& ids = integers(node, 1);
  for (const std::int32_t id : ids.value) {
    if (id < 0 || id >= w->shape[0]) {
      return node_error(node, "expert " + std::to_string(id) + " does not exist");
    }
  }
  put(node, 0, expert_linear(values(node, 0), ids, *w, dtype_of(node), options_.threads));
  return {};
}

void Evaluator::select_rows(const graph::Node& node) {
  const Values& x = values(node, 0);
  const std::vector<std::int64_t> shape = shape_of(node);
  const auto rows = static_cast<std::size_t>(shape[0]);
  const std::size_t width = count_of(shape) / rows;
  const std::size_t step = x.size() / width / rows;
  Values out;
  const auto copy = [&](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t row = 0; row < rows && !from.empty(); ++row) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(((row + 1) * step - 1) * width);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  };
  copy(x.value, out.value);
  copy(x.tolerance, out.tolerance);
  copy(x.radius, out.radius);
  put(node, 0, std::move(out), false);
}

void Evaluator::choose(const graph::Node& node) {
  const Values& scores = values(node, 0);
  Integers best;
  result_.choices[node.outputs[0]] = argmax(scores, best);
  if (options_.keep_scores) {
    OracleTensor kept{scores.dtype, scores.shape,     false,        {},
                      scores.value, scores.tolerance, scores.radius};
    kept.tolerance.resize(kept.value.size(), 0);
    kept.radius.resize(kept.value.size(), 0);
    result_.scores[node.outputs[0]] = std::move(kept);
  }
  held_[node.outputs[0]].integers = std::move(best);
}

Result<void> Evaluator::collective(const graph::Node& node) {
  if (node.attrs.integer("group", 1) != 1) {
    return Error{ErrorCode::kUnsupported,
                 "node " + std::to_string(node.id) + " (" + graph::to_string(node.op) +
                     "): the oracle of one rank cannot sum over " +
                     std::to_string(node.attrs.integer("group", 1)) + " ranks"};
  }
  put(node, 0, values(node, 0), false);
  return {};
}

}  // namespace fusefarm::verify
