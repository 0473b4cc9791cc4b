#include "tests/codegen/naive_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "base/bf16.h"
#include "base/check.h"
#include "base/random.h"

namespace fusefarm::codegen::test {

using graph::Bindings;
using graph::DType;
using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;

double rounded(double value, DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return bf16_to_float(float_to_bf16(static_cast<float>(value)));
    case DType::kF32:
      return static_cast<float>(value);
    case DType::kI32:
      return value;
  }
  return value;
}

Values random_inputs(const Graph& graph, const Bindings& bindings, std::uint64_t seed) {
  Values values;
  for (const auto& [id, tensor] : graph.tensors()) {
    if (graph.producer(id) != nullptr) {
      continue;
    }
    Random random = Random::keyed(seed, "input", static_cast<std::uint64_t>(id));
    std::vector<double> data(static_cast<std::size_t>(graph::element_count(tensor, bindings)));
    if (tensor.dtype == DType::kI32) {
      std::iota(data.begin(), data.end(), 0.0);
      for (std::size_t i = data.size(); i > 1; --i) {
        std::swap(data[i - 1], data[random.below(i)]);
      }
    } else {
      const bool norm = tensor.kind == graph::TensorKind::kWeight && tensor.shape.size() == 1;
      const double scale = tensor.kind == graph::TensorKind::kWeight ? 0.15 : 1.0;
      for (double& value : data) {
        value = rounded((norm ? 1.0 : 0.0) + scale * random.normal(), tensor.dtype);
      }
    }
    values[id] = std::move(data);
  }
  return values;
}

namespace {

class Evaluator {
 public:
  Evaluator(const Graph& graph, const Bindings& bindings, Values& values)
      : graph_(graph), bindings_(bindings), values_(values) {}

  void run(const Node& node) {
    switch (node.op) {
      case OpKind::kEmbedding:
        return gather(node);
      case OpKind::kRmsNorm:
        return norm(node);
      case OpKind::kAdd:
        return set(node.outputs[0], [&](std::size_t i) { return in(node, 0)[i] + in(node, 1)[i]; });
      case OpKind::kCast:
        return set(node.outputs[0], [&](std::size_t i) { return in(node, 0)[i]; });
      case OpKind::kLinear:
        return linear(node);
      case OpKind::kSplit:
        return split(node);
      case OpKind::kRope:
        return rope(node);
      case OpKind::kKvWrite:
        return kv_write(node);
      case OpKind::kAttention:
        return attention(node);
      case OpKind::kSiluMul:
        return silu(node);
      case OpKind::kRouterSelect:
        return route(node);
      case OpKind::kExpertLinear:
        return experts(node);
      case OpKind::kMoeFinalize:
        return finalize(node);
      case OpKind::kSelectRows:
        return select(node);
      case OpKind::kArgmax:
        return argmax(node);
      default:
        FUSEFARM_CHECK(false, "no naive evaluation");
    }
  }

 private:
  const std::vector<double>& in(const Node& node, std::size_t i) const {
    return values_.at(node.inputs[i]);
  }

  const Tensor& tensor(TensorId id) const { return graph_.tensor(id); }

  std::size_t rows(TensorId id) const {
    return static_cast<std::size_t>(bindings_.of(tensor(id).shape.front()));
  }

  std::size_t columns(TensorId id) const {
    return static_cast<std::size_t>(graph::element_count(tensor(id), bindings_)) / rows(id);
  }

  std::size_t last(TensorId id) const {
    return static_cast<std::size_t>(bindings_.of(tensor(id).shape.back()));
  }

  template <class Element>
  void set(TensorId id, const Element& element) {
    std::vector<double> out(static_cast<std::size_t>(graph::element_count(tensor(id), bindings_)));
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = rounded(element(i), tensor(id).dtype);
    }
    values_[id] = std::move(out);
  }

  void gather(const Node& node) {
    const std::size_t width = columns(node.outputs[0]);
    set(node.outputs[0], [&](std::size_t i) {
      const double id = in(node, 0)[i / width];
      return in(node, 1)[static_cast<std::size_t>(id) * width + i % width];
    });
  }

  void norm(const Node& node) {
    const std::size_t width = last(node.inputs[1]);
    const double eps = node.attrs.real("eps");
    set(node.outputs[0], [&](std::size_t i) {
      const std::size_t begin = i / width * width;
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) {
        sum += in(node, 0)[begin + c] * in(node, 0)[begin + c];
      }
      return in(node, 0)[i] / std::sqrt(sum / static_cast<double>(width) + eps) *
             in(node, 1)[i % width];
    });
  }

  void linear(const Node& node) {
    const std::size_t n = columns(node.outputs[0]);
    const std::size_t k = columns(node.inputs[0]);
    set(node.outputs[0], [&](std::size_t i) {
      double sum = node.inputs.size() > 2 ? in(node, 2)[i % n] : 0.0;
      for (std::size_t c = 0; c < k; ++c) {
        sum += in(node, 0)[i / n * k + c] * in(node, 1)[i % n * k + c];
      }
      return sum;
    });
  }

  void split(const Node& node) {
    const std::size_t width = columns(node.inputs[0]);
    std::size_t column = 0;
    for (const TensorId part : node.outputs) {
      const std::size_t own = columns(part);
      set(part, [&](std::size_t i) { return in(node, 0)[i / own * width + column + i % own]; });
      column += own;
    }
  }

  void rope(const Node& node) {
    const std::size_t dim = last(node.inputs[0]);
    const std::size_t width = columns(node.inputs[0]);
    auto rotary = static_cast<std::size_t>(node.attrs.integer("rotary_dim"));
    rotary = rotary == 0 ? dim : rotary;
    const double theta = node.attrs.real("theta");
    set(node.outputs[0], [&](std::size_t i) {
      const std::size_t d = i % dim;
      const std::vector<double>& x = in(node, 0);
      if (d >= rotary) {
        return x[i];
      }
      const std::size_t half = rotary / 2;
      const double exponent = -2.0 * static_cast<double>(d % half) / static_cast<double>(rotary);
      const double angle = in(node, 1)[i / width] * std::pow(theta, exponent);
      const double other = d < half ? -x[i + half] : x[i - half];
      return x[i] * std::cos(angle) + other * std::sin(angle);
    });
  }

  void kv_write(const Node& node) {
    for (std::size_t which = 0; which < 2; ++which) {
      std::vector<double> cache = in(node, 3 + which);
      const std::size_t width = columns(node.inputs[which]);
      for (std::size_t row = 0; row < rows(node.inputs[which]); ++row) {
        const auto slot = static_cast<std::size_t>(in(node, 2)[row]);
        std::copy_n(in(node, which).begin() + static_cast<std::ptrdiff_t>(row * width), width,
                    cache.begin() + static_cast<std::ptrdiff_t>(slot * width));
      }
      values_[node.outputs[which]] = std::move(cache);
    }
  }

  void attention(const Node& node) {
    const std::size_t dim = last(node.inputs[0]);
    const std::size_t width = columns(node.inputs[0]);
    const std::size_t kv_width = columns(node.inputs[1]);
    const auto sequences = static_cast<std::size_t>(bindings_.sequences);
    const std::size_t tokens = rows(node.inputs[0]) / sequences;
    const std::size_t slots = rows(node.inputs[1]) / sequences;
    const std::size_t group = width / kv_width;
    const double scale = node.attrs.real("scale");
    const bool causal = node.attrs.integer("causal") != 0;
    set(node.outputs[0], [&](std::size_t i) {
      const std::size_t token = i / width;
      const std::size_t head = i % width / dim;
      const std::size_t sequence = token / tokens;
      const double position = in(node, 3)[causal ? token : (sequence + 1) * tokens - 1];
      const std::size_t seen = std::min(slots, static_cast<std::size_t>(position) + 1);
      double best = -std::numeric_limits<double>::infinity();
      std::vector<double> scores;
      const std::size_t base = sequence * slots * kv_width + head / group * dim;
      for (std::size_t s = 0; s < seen; ++s) {
        double score = 0;
        for (std::size_t d = 0; d < dim; ++d) {
          score +=
              in(node, 0)[token * width + head * dim + d] * in(node, 1)[base + s * kv_width + d];
        }
        scores.push_back(score * scale);
        best = std::max(best, scores.back());
      }
      double sum = 0;
      double total = 0;
      for (std::size_t s = 0; s < seen; ++s) {
        const double weight = std::exp(scores[s] - best);
        total += weight;
        sum += weight * in(node, 2)[base + s * kv_width + i % dim];
      }
      return sum / total;
    });
  }

  void silu(const Node& node) {
    const std::size_t half = columns(node.outputs[0]);
    set(node.outputs[0], [&](std::size_t i) {
      const double gate = in(node, 0)[i / half * 2 * half + i % half];
      return gate / (1 + std::exp(-gate)) * in(node, 0)[i / half * 2 * half + half + i % half];
    });
  }

  void route(const Node& node) {
    const std::size_t experts = columns(node.inputs[0]);
    const auto k = static_cast<std::size_t>(node.attrs.integer("top_k"));
    const auto groups = static_cast<std::size_t>(node.attrs.integer("groups", 1));
    const auto kept = static_cast<std::size_t>(
        node.attrs.integer("top_groups", static_cast<std::int64_t>(groups)));
    const bool softmax = node.attrs.text("function") == "softmax";
    std::vector<double> ids;
    std::vector<double> weights;
    for (std::size_t row = 0; row < rows(node.inputs[0]); ++row) {
      std::vector<double> score;
      double total = 0;
      for (std::size_t e = 0; e < experts; ++e) {
        const double logit = in(node, 0)[row * experts + e];
        score.push_back(softmax ? std::exp(logit) : 1 / (1 + std::exp(-logit)));
        total += score.back();
      }
      std::vector<double> biased;
      for (std::size_t e = 0; e < experts; ++e) {
        score[e] /= softmax ? total : 1.0;
        biased.push_back(score[e] + (node.inputs.size() > 1 ? in(node, 1)[e] : 0.0));
      }
      std::vector<std::pair<double, std::size_t>> group_scores;
      const std::size_t size = experts / groups;
      for (std::size_t g = 0; g < groups; ++g) {
        std::vector<double> members(biased.begin() + static_cast<std::ptrdiff_t>(g * size),
                                    biased.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
        std::ranges::sort(members, std::greater<>());
        group_scores.emplace_back(-(members[0] + (size > 1 ? members[1] : 0.0)), g);
      }
      std::ranges::sort(group_scores);
      std::vector<std::pair<double, std::size_t>> ranked;
      for (std::size_t g = 0; g < kept; ++g) {
        for (std::size_t e = 0; e < size; ++e) {
          const std::size_t expert = group_scores[g].second * size + e;
          ranked.emplace_back(-biased[expert], expert);
        }
      }
      std::ranges::sort(ranked);
      double sum = 0;
      for (std::size_t i = 0; i < k; ++i) {
        sum += score[ranked[i].second];
      }
      const double divisor = node.attrs.integer("renormalise") != 0 ? sum + 1e-20 : 1.0;
      for (std::size_t i = 0; i < k; ++i) {
        ids.push_back(static_cast<double>(ranked[i].second));
        weights.push_back(score[ranked[i].second] / divisor * node.attrs.real("scale"));
      }
    }
    values_[node.outputs[0]] = std::move(ids);
    values_[node.outputs[1]] = std::move(weights);
  }

  void experts(const Node& node) {
    const std::size_t k = columns(node.inputs[1]);
    const std::size_t depth = columns(node.inputs[0]);
    const std::size_t n = columns(node.outputs[0]);
    const std::size_t expansion = rows(node.outputs[0]) / rows(node.inputs[0]);
    set(node.outputs[0], [&](std::size_t i) {
      const std::size_t row = i / n;
      const auto expert = static_cast<std::size_t>(in(node, 1)[row / k * k + row % k]);
      double sum = 0;
      for (std::size_t c = 0; c < depth; ++c) {
        sum += in(node, 0)[row / expansion * depth + c] *
               in(node, 2)[(expert * n + i % n) * depth + c];
      }
      return sum;
    });
  }

  void finalize(const Node& node) {
    const std::size_t k = columns(node.inputs[1]);
    const std::size_t width = columns(node.outputs[0]);
    set(node.outputs[0], [&](std::size_t i) {
      double sum = 0;
      for (std::size_t j = 0; j < k; ++j) {
        sum +=
            in(node, 1)[i / width * k + j] * in(node, 0)[(i / width * k + j) * width + i % width];
      }
      return sum;
    });
  }

  void select(const Node& node) {
    const std::size_t width = columns(node.outputs[0]);
    const std::size_t step = rows(node.inputs[0]) / rows(node.outputs[0]);
    set(node.outputs[0], [&](std::size_t i) {
      return in(node, 0)[((i / width + 1) * step - 1) * width + i % width];
    });
  }

  void argmax(const Node& node) {
    const std::size_t width = columns(node.inputs[0]);
    set(node.outputs[0], [&](std::size_t row) {
      const auto begin = in(node, 0).begin() + static_cast<std::ptrdiff_t>(row * width);
      return static_cast<double>(
          std::max_element(begin, begin + static_cast<std::ptrdiff_t>(width)) - begin);
    });
  }

  const Graph& graph_;
  const Bindings& bindings_;
  Values& values_;
};

}  // namespace

void evaluate(const Graph& graph, const Bindings& bindings, Values& values) {
  Evaluator evaluator(graph, bindings, values);
  for (const Node& node : graph.nodes()) {
    evaluator.run(node);
  }
}

}  // namespace fusefarm::codegen::test
