#include "graph/dim.h"

namespace fusefarm::graph {

std::int64_t Bindings::of(Symbol symbol) const {
  switch (symbol) {
    case Symbol::kOne:
      return 1;
    case Symbol::kTokens:
      return tokens;
    case Symbol::kSequences:
      return sequences;
    case Symbol::kSlots:
      return slots;
    case Symbol::kLogitRows:
      return logit_rows;
  }
  return 1;
}

const char* to_string(Symbol symbol) {
  switch (symbol) {
    case Symbol::kOne:
      return "";
    case Symbol::kTokens:
      return "T";
    case Symbol::kSequences:
      return "B";
    case Symbol::kSlots:
      return "S";
    case Symbol::kLogitRows:
      return "L";
  }
  return "";
}

std::string to_string(Dim dim) {
  if (dim.symbol == Symbol::kOne) {
    return std::to_string(dim.factor);
  }
  if (dim.factor == 1) {
    return to_string(dim.symbol);
  }
  return std::to_string(dim.factor) + "*" + to_string(dim.symbol);
}

}  // namespace fusefarm::graph
