#include "graph/attr_rules.h"

#include <cmath>
#include <string>
#include <vector>

namespace fusefarm::graph {
namespace {

enum class Need { kRequired, kOptional };
enum class Type { kInteger, kFlag, kPositive, kText };

struct Rule {
  const char* name;
  Type type;
  Need need = Need::kRequired;
};

std::vector<Rule> rules_of(OpKind op) {
  switch (op) {
    case OpKind::kEmbedding:
      return {{"vocab_begin", Type::kInteger}};
    case OpKind::kRmsNorm:
      return {{"eps", Type::kPositive}};
    case OpKind::kRope:
      return {{"theta", Type::kPositive},
              {"rotary_dim", Type::kInteger},
              {"interleaved", Type::kFlag},
              {"scaling", Type::kText, Need::kOptional},
              {"scaling_factor", Type::kPositive, Need::kOptional},
              {"low_freq_factor", Type::kPositive, Need::kOptional},
              {"high_freq_factor", Type::kPositive, Need::kOptional},
              {"original_max_position", Type::kInteger, Need::kOptional}};
    case OpKind::kAttention:
      return {{"scale", Type::kPositive}, {"causal", Type::kFlag}};
    case OpKind::kRouterSelect:
      return {{"top_k", Type::kInteger},      {"groups", Type::kInteger},
              {"top_groups", Type::kInteger}, {"renormalise", Type::kFlag},
              {"scale", Type::kPositive},     {"function", Type::kText}};
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
      return {{"group", Type::kInteger}};
    case OpKind::kRegion:
      return {{"signature", Type::kText, Need::kOptional}};
    default:
      return {};
  }
}

bool fits(const AttrValue& value, Type type) {
  switch (type) {
    case Type::kInteger: {
      const auto* number = std::get_if<std::int64_t>(&value);
      return number != nullptr && *number >= 0 && *number <= (std::int64_t{1} << 40);
    }
    case Type::kFlag: {
      const auto* number = std::get_if<std::int64_t>(&value);
      return number != nullptr && (*number == 0 || *number == 1);
    }
    case Type::kPositive: {
      const auto* number = std::get_if<double>(&value);
      return number != nullptr && std::isfinite(*number) && *number > 0;
    }
    case Type::kText:
      return std::holds_alternative<std::string>(value);
  }
  return false;
}

const char* expectation(Type type) {
  switch (type) {
    case Type::kInteger:
      return "a whole number";
    case Type::kFlag:
      return "0 or 1";
    case Type::kPositive:
      return "a positive number";
    case Type::kText:
      return "a text";
  }
  return "";
}

Error wrong(const Node& node, const std::string& why) {
  return Error{ErrorCode::kInvalidArgument, "node " + std::to_string(node.id) + " (" +
                                                to_string(node.op) + " '" +
                                                node.name.substr(0, 80) + "'): " + why};
}

}  // namespace

Result<void> check_attrs(const Node& node) {
  const std::vector<Rule> rules = rules_of(node.op);
  for (const Rule& rule : rules) {
    const auto found = node.attrs.values().find(rule.name);
    if (found == node.attrs.values().end()) {
      if (rule.need == Need::kOptional) {
        continue;
      }
      return wrong(node, "attribute '" + std::string(rule.name) + "' is missing");
    }
    if (!fits(found->second, rule.type)) {
      return wrong(node,
                   "attribute '" + std::string(rule.name) + "' must be " + expectation(rule.type));
    }
  }
  for (const auto& [name, value] : node.attrs.values()) {
    bool known = false;
    for (const Rule& rule : rules) {
      known = known || name == rule.name;
    }
    if (!known) {
      return wrong(node, "unknown attribute '" + name.substr(0, 80) + "'");
    }
  }
  return {};
}

}  // namespace fusefarm::graph
