// Symbolic dimensions. A step of a serving engine varies in a few numbers only; everything else is
// fixed by the model. Dim = factor * symbol.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace fusefarm::graph {

enum class Symbol : std::uint8_t {
  kOne,        // a plain number
  kTokens,     // T: tokens of the step (decode: batch; prefill: chunk; block diffusion: 32 * batch)
  kSequences,  // B: requests in the step
  kSlots,      // S: KV-cache slots of the rank, sequences * context
  kLogitRows,  // L: rows for which logits are needed (decode: B; prefill: B; block diffusion: T)
};

struct Dim {
  Symbol symbol = Symbol::kOne;
  std::int64_t factor = 1;
  friend auto operator<=>(const Dim&, const Dim&) = default;
};

constexpr Dim fixed(std::int64_t value) { return Dim{Symbol::kOne, value}; }

constexpr Dim tokens(std::int64_t factor = 1) { return Dim{Symbol::kTokens, factor}; }

// Concrete values of the symbols for one shape bucket.
struct Bindings {
  std::int64_t tokens = 1;
  std::int64_t sequences = 1;
  std::int64_t slots = 1;
  std::int64_t logit_rows = 1;
  friend auto operator<=>(const Bindings&, const Bindings&) = default;

  std::int64_t of(Symbol symbol) const;

  std::int64_t of(Dim dim) const { return dim.factor * of(dim.symbol); }
};

std::string to_string(Dim dim);        // "5120", "T", "8*T"
const char* to_string(Symbol symbol);  // "", "T", "B", "S", "L"

}  // namespace fusefarm::graph
