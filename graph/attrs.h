// Attributes of a node: few, named, ordered, so that printing and hashing are canonical.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace fusefarm::graph {

using AttrValue = std::variant<std::int64_t, double, std::string>;

class Attrs {
 public:
  Attrs& set(const std::string& name, AttrValue value) {
    values_[name] = std::move(value);
    return *this;
  }

  bool has(const std::string& name) const { return values_.contains(name); }

  // The value, or `otherwise` when absent or of another type.
  std::int64_t integer(const std::string& name, std::int64_t otherwise = 0) const;
  double real(const std::string& name, double otherwise = 0) const;
  std::string text(const std::string& name, const std::string& otherwise = "") const;

  const std::map<std::string, AttrValue>& values() const { return values_; }

  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  std::map<std::string, AttrValue> values_;
};

}  // namespace fusefarm::graph
