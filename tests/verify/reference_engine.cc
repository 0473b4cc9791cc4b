#include "tests/verify/reference_engine.h"

#include <algorithm>
#include <cmath>

#include "tests/verify/naive_routing.h"
#include "verify/values.h"

namespace fusefarm::verify {
namespace {

template <class Real>
class Engine {
 public:
  Engine(const graph::Graph& graph, const graph::Bindings& bindings, const TensorValues& inputs,
         const EngineOptions& options)
      : graph_(graph), bindings_(bindings), mutation_(options.mutation), exact_(options.exact) {
    for (const auto& [id, view] : inputs) {
      std::vector<double>& loaded = elements_[id];
      loaded.resize(count_of(view.shape));
      load_elements(view, 0, loaded.size(), loaded.data());
    }
  }

  Elements run() {
    for (const graph::Node& node : graph_.nodes()) {
      step(node);
    }
    return std::move(elements_);
  }

 private:
  using Node = graph::Node;
  using OpKind = graph::OpKind;

  const std::vector<double>& in(const Node& node, std::size_t i) {
    return elements_.at(node.inputs[i]);
  }

  std::vector<std::int64_t> shape(graph::TensorId id) const {
    return graph::bound_shape(graph_.tensor(id), bindings_);
  }

  void out(const Node& node, std::size_t i, std::vector<double> values) {
    const graph::DType dtype = graph_.tensor(node.outputs[i]).dtype;
    for (double& value : values) {
      if (!exact_ && dtype != graph::DType::kI32) {
        value = round_to(value, dtype);
      }
    }
    elements_[node.outputs[i]] = std::move(values);
  }

  void step(const Node& node) {
    switch (node.op) {
      case OpKind::kEmbedding:
        return embedding(node);
      case OpKind::kRmsNorm:
        return norm(node);
      case OpKind::kAdd:
        return add(node);
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
        return silu_mul(node);
      case OpKind::kRouterSelect:
        return router(node);
      case OpKind::kExpertLinear:
        return expert_linear(node);
      case OpKind::kMoeFinalize:
        return finalize(node);
      case OpKind::kSelectRows:
        return select_rows(node);
      case OpKind::kArgmax:
        return argmax(node);
      default:
        return out(node, 0, in(node, 0));
    }
  }

  void embedding(const Node& node) {
    const std::vector<double>& table = in(node, 1);
    const auto width = static_cast<std::size_t>(shape(node.inputs[1])[1]);
    std::vector<double> y;
    for (const double id : in(node, 0)) {
      const auto from =
          table.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(id) * width);
      y.insert(y.end(), from, from + static_cast<std::ptrdiff_t>(width));
    }
    out(node, 0, y);
  }

  void norm(const Node& node) {
    const std::vector<double>& x = in(node, 0);
    const std::vector<double>& w = in(node, 1);
    const Real eps = mutation_ == Mutation::kNoEps ? Real{0} : Real(node.attrs.real("eps"));
    std::vector<double> y(x.size());
    for (std::size_t row = 0; row < x.size(); row += w.size()) {
      Real sum = 0;
      const std::size_t counted = w.size() - (mutation_ == Mutation::kMeanWithoutLast ? 1 : 0);
      for (std::size_t i = 0; i < counted; ++i) {
        sum += Real(x[row + i]) * Real(x[row + i]);
      }
      const Real rs = Real{1} / std::sqrt(sum / Real(w.size()) + eps);
      for (std::size_t i = 0; i < w.size(); ++i) {
        y[row + i] = double(Real(x[row + i]) * rs * Real(w[i]));
      }
    }
    out(node, 0, y);
  }

  void add(const Node& node) {
    std::vector<double> y = in(node, 0);
    const std::vector<double>& b = in(node, 1);
    for (std::size_t i = 0; i < y.size() && mutation_ != Mutation::kNoResidual; ++i) {
      y[i] = double(Real(y[i]) + Real(b[i]));
    }
    out(node, 0, y);
  }

  double dot(const double* x, const double* w, std::size_t k) const {
    const std::size_t end = mutation_ == Mutation::kDroppedDepth ? k - 16 : k;
    if (mutation_ == Mutation::kLowAccuracy) {
      double sum = 0;
      for (std::size_t i = 0; i < end; ++i) {
        sum = round_to(sum + x[i] * w[i], graph::DType::kBF16);
      }
      return sum;
    }
    Real sums[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < end; ++i) {
      sums[i % 4] += Real(x[i]) * Real(w[i]);
    }
    return double((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }

  void linear(const Node& node) {
    const std::vector<double>& x = in(node, 0);
    const std::vector<double>& w = in(node, 1);
    const auto k = static_cast<std::size_t>(shape(node.inputs[1])[1]);
    const std::size_t n = w.size() / k;
    std::vector<double> y;
    for (std::size_t row = 0; row < x.size() / k; ++row) {
      for (std::size_t j = 0; j < n; ++j) {
        double value = dot(&x[row * k], &w[j * k], k);
        if (node.inputs.size() > 2) {
          value = double(Real(value) + Real(in(node, 2)[j]));
        }
        y.push_back(value);
      }
    }
    out(node, 0, y);
  }

  void split(const Node& node) {
    const std::vector<double>& x = in(node, 0);
    const std::size_t tokens = static_cast<std::size_t>(bindings_.tokens);
    const std::size_t width = x.size() / tokens;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::size_t part = count_of(shape(node.outputs[i])) / tokens;
      std::vector<double> y;
      for (std::size_t t = 0; t < tokens; ++t) {
        for (std::size_t c = 0; c < part; ++c) {
          y.push_back(x[t * width + begin + c]);
        }
      }
      out(node, i, y);
      begin += part;
    }
  }

  // Angles in double: what f32 does to them is part of the bound.
  void rope(const Node& node) {
    const std::vector<std::int64_t> dims = shape(node.inputs[0]);
    std::vector<double> y = in(node, 0);
    const std::vector<double>& positions = in(node, 1);
    const auto d = static_cast<std::size_t>(dims[2]);
    const auto rotary = static_cast<std::size_t>(node.attrs.integer("rotary_dim", dims[2]));
    bool interleaved = node.attrs.integer("interleaved") != 0;
    if (mutation_ == Mutation::kInterleavedRope) {
      interleaved = !interleaved;
    }
    double theta = node.attrs.real("theta");
    if (mutation_ == Mutation::kWrongTheta) {
      theta *= 2;
    }
    for (std::size_t row = 0; row < y.size() / d; ++row) {
      const double position = positions[row / static_cast<std::size_t>(dims[1])];
      for (std::size_t i = 0; i < rotary / 2; ++i) {
        double frequency = 1 / std::pow(theta, 2 * double(i) / double(rotary));
        if (node.attrs.text("scaling") == "llama3") {
          frequency = llama3(node.attrs, frequency);
        }
        const Real c = Real(std::cos(position * frequency));
        const Real s = Real(std::sin(position * frequency));
        double& a = y[row * d + (interleaved ? 2 * i : i)];
        double& b = y[row * d + (interleaved ? 2 * i + 1 : i + rotary / 2)];
        const Real low = Real(a) * c - Real(b) * s;
        b = double(Real(b) * c + Real(a) * s);
        a = double(low);
      }
    }
    out(node, 0, y);
  }

  static double llama3(const graph::Attrs& attrs, double frequency) {
    const double wavelength = 2 * M_PI / frequency;
    const auto old = double(attrs.integer("original_max_position"));
    const double low = attrs.real("low_freq_factor");
    const double high = attrs.real("high_freq_factor");
    const double factor = attrs.real("scaling_factor");
    if (wavelength > old / low) {
      return frequency / factor;
    }
    if (wavelength < old / high) {
      return frequency;
    }
    const double mix = (old / wavelength - low) / (high - low);
    return (1 - mix) * frequency / factor + mix * frequency;
  }

  void kv_write(const Node& node) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::vector<double>& rows = in(node, side);
      std::vector<double> cache = in(node, 3 + side);
      const std::vector<double>& slots = in(node, 2);
      const std::size_t width = rows.size() / slots.size();
      const std::size_t count = cache.size() / width;
      for (std::size_t t = 0; t < slots.size(); ++t) {
        auto slot = static_cast<std::size_t>(slots[t]);
        if (mutation_ == Mutation::kSlotOffByOne) {
          slot = (slot + 1) % count;
        }
        std::copy_n(&rows[t * width], width, &cache[slot * width]);
      }
      out(node, side, cache);
    }
  }

  void attention(const Node& node) {
    const std::vector<std::int64_t> q_dims = shape(node.inputs[0]);
    const std::vector<std::int64_t> k_dims = shape(node.inputs[1]);
    const auto tokens = static_cast<std::size_t>(q_dims[0]);
    const auto heads = static_cast<std::size_t>(q_dims[1]);
    const auto d = static_cast<std::size_t>(q_dims[2]);
    const auto kv_heads = static_cast<std::size_t>(k_dims[1]);
    const auto sequences = static_cast<std::size_t>(bindings_.sequences);
    const std::size_t context = static_cast<std::size_t>(k_dims[0]) / sequences;
    const std::size_t each = tokens / sequences;
    const Real scale = mutation_ == Mutation::kNoScale ? Real{1} : Real(node.attrs.real("scale"));
    std::vector<double> y(tokens * heads * d);
    for (std::size_t t = 0; t < tokens; ++t) {
      const std::size_t b = t / each;
      const std::size_t last = node.attrs.integer("causal") != 0 ? t : b * each + each - 1;
      std::size_t seen = static_cast<std::size_t>(in(node, 3)[last]) + 1;
      if (mutation_ == Mutation::kSeesFuture) {
        seen = std::min(seen + 1, context);
      }
      for (std::size_t h = 0; h < heads; ++h) {
        const std::size_t kv = h / (heads / kv_heads);
        std::vector<Real> p(seen);
        Real top = -INFINITY;
        for (std::size_t j = 0; j < seen; ++j) {
          const double* k = &in(node, 1)[((b * context + j) * kv_heads + kv) * d];
          Real sum = 0;
          for (std::size_t i = 0; i < d; ++i) {
            sum += Real(in(node, 0)[(t * heads + h) * d + i]) * Real(k[i]);
          }
          p[j] = sum * scale;
          top = std::max(top, p[j]);
        }
        Real total = 0;
        for (Real& value : p) {
          total += value = std::exp(value - top);
        }
        for (std::size_t i = 0; i < d; ++i) {
          Real sum = 0;
          for (std::size_t j = 0; j < seen; ++j) {
            sum += p[j] * Real(in(node, 2)[((b * context + j) * kv_heads + kv) * d + i]);
          }
          y[(t * heads + h) * d + i] = double(sum / total);
        }
      }
    }
    out(node, 0, y);
  }

  void silu_mul(const Node& node) {
    const std::vector<double>& x = in(node, 0);
    const auto n = static_cast<std::size_t>(shape(node.outputs[0]).back());
    std::vector<double> y;
    for (std::size_t row = 0; row < x.size(); row += 2 * n) {
      for (std::size_t i = 0; i < n; ++i) {
        Real gate = Real(x[row + i]);
        Real up = Real(x[row + n + i]);
        if (mutation_ == Mutation::kSwappedGateUp) {
          std::swap(gate, up);
        }
        y.push_back(double(gate / (Real{1} + std::exp(-gate)) * up));
      }
    }
    out(node, 0, y);
  }

  void router(const Node& node) {
    const auto experts = static_cast<std::size_t>(shape(node.inputs[0]).back());
    const std::vector<double>* bias = node.inputs.size() > 1 ? &in(node, 1) : nullptr;
    const NaiveRouting routing = naive_routing<Real>(in(node, 0), experts, bias, node.attrs);
    out(node, 0, routing.ids);
    out(node, 1, routing.weights);
  }

  void expert_linear(const Node& node) {
    const std::vector<double>& x = in(node, 0);
    const std::vector<double>& ids = in(node, 1);
    const std::vector<std::int64_t> dims = shape(node.inputs[2]);
    const auto n = static_cast<std::size_t>(dims[1]);
    const auto k = static_cast<std::size_t>(dims[2]);
    const std::size_t repeat = ids.size() / (x.size() / k);
    std::vector<double> y;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double* w = &in(node, 2)[static_cast<std::size_t>(ids[i]) * n * k];
      for (std::size_t j = 0; j < n; ++j) {
        y.push_back(dot(&x[i / repeat * k], w + j * k, k));
      }
    }
    out(node, 0, y);
  }

  void finalize(const Node& node) {
    const std::vector<double>& y = in(node, 0);
    const std::vector<double>& w = in(node, 1);
    const auto width = static_cast<std::size_t>(shape(node.outputs[0]).back());
    const auto k = static_cast<std::size_t>(shape(node.inputs[1]).back());
    std::vector<double> z;
    for (std::size_t t = 0; t < w.size() / k; ++t) {
      for (std::size_t c = 0; c < width; ++c) {
        Real sum = 0;
        for (std::size_t j = 0; j < k; ++j) {
          sum += Real(w[t * k + j]) * Real(y[(t * k + j) * width + c]);
        }
        z.push_back(double(sum));
      }
    }
    out(node, 0, z);
  }

  void select_rows(const Node& node) {
    const std::vector<double>& x = in(node, 0);
    const std::vector<std::int64_t> dims = shape(node.outputs[0]);
    const auto rows = static_cast<std::size_t>(dims[0]);
    const auto width = static_cast<std::size_t>(dims[1]);
    const std::size_t each = x.size() / width / rows;
    std::vector<double> y;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < width; ++c) {
        y.push_back(x[((r + 1) * each - 1) * width + c]);
      }
    }
    out(node, 0, y);
  }

  void argmax(const Node& node) {
    const std::vector<double>& x = in(node, 0);
    const auto width = static_cast<std::size_t>(shape(node.inputs[0]).back());
    std::vector<double> y;
    for (std::size_t row = 0; row < x.size(); row += width) {
      const auto begin = x.begin() + std::ptrdiff_t(row);
      y.push_back(double(std::max_element(begin, begin + std::ptrdiff_t(width)) - begin));
    }
    out(node, 0, y);
  }

  const graph::Graph& graph_;
  const graph::Bindings& bindings_;
  Mutation mutation_;
  bool exact_;
  Elements elements_;
};

}  // namespace

Elements run_reference(const graph::Graph& graph, const graph::Bindings& bindings,
                       const TensorValues& inputs, const EngineOptions& options) {
  if (options.exact) {
    return Engine<double>(graph, bindings, inputs, options).run();
  }
  return Engine<float>(graph, bindings, inputs, options).run();
}

}  // namespace fusefarm::verify
