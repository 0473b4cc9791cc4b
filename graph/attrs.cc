#include "graph/attrs.h"

namespace fusefarm::graph {
namespace {

template <class T>
T get_or(const std::map<std::string, AttrValue>& values, const std::string& name, T otherwise) {
  const auto found = values.find(name);
  if (found == values.end()) {
    return otherwise;
  }
  const T* value = std::get_if<T>(&found->second);
  return value == nullptr ? otherwise : *value;
}

}  // namespace

std::int64_t Attrs::integer(const std::string& name, std::int64_t otherwise) const {
  return get_or<std::int64_t>(values_, name, otherwise);
}

double Attrs::real(const std::string& name, double otherwise) const {
  return get_or<double>(values_, name, otherwise);
}

std::string Attrs::text(const std::string& name, const std::string& otherwise) const {
  return get_or<std::string>(values_, name, otherwise);
}

}  // namespace fusefarm::graph
