#include "graph/canonical_key.h"

#include <bit>

#include "graph/region.h"

namespace fusefarm::graph {
namespace {

struct AttrText {
  std::string operator()(std::int64_t value) const { return "i" + std::to_string(value); }

  // Bits, not digits: two values are the same attribute only when they are the same number.
  std::string operator()(double value) const {
    return "d" + std::to_string(std::bit_cast<std::uint64_t>(value));
  }

  std::string operator()(const std::string& value) const {
    return "s" + std::to_string(value.size()) + ":" + value;
  }
};

}  // namespace

std::string attrs_key(const Attrs& attrs) {
  std::string key;
  for (const auto& [name, value] : attrs.values()) {
    key += name + "=" + std::visit(AttrText{}, value) + ";";
  }
  return key;
}

std::string node_key(const Node& node) {
  std::string key = to_string(node.op);
  key += "(" + std::to_string(node.inputs.size()) + "," + std::to_string(node.outputs.size()) + ")";
  for (const auto& [output, input] : node.aliases) {
    key += "[" + std::to_string(output) + "<" + std::to_string(input) + "]";
  }
  key += "{" + attrs_key(node.attrs) + "}";
  if (node.op == OpKind::kRegion && node.body != nullptr) {
    key += region_signature(*node.body).hex();
  }
  return key;
}

std::string tensor_key(const Tensor& tensor) {
  static constexpr const char* kKinds[] = {"input", "weight", "state", "activation"};
  std::string key = kKinds[static_cast<int>(tensor.kind)];
  key += std::string(" ") + to_string(tensor.dtype) + "[";
  for (const Dim dim : tensor.shape) {
    key += to_string(dim) + ",";
  }
  return key + "]";
}

bool is_commutative(OpKind op) { return op == OpKind::kAdd; }

}  // namespace fusefarm::graph
