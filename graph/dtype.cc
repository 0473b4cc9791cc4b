#include "graph/dtype.h"

namespace fusefarm::graph {

const char* to_string(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kI32:
      return "i32";
  }
  return "f32";
}

std::optional<DType> dtype_from(std::string_view name) {
  if (name == "f32") {
    return DType::kF32;
  }
  if (name == "bf16") {
    return DType::kBF16;
  }
  if (name == "i32") {
    return DType::kI32;
  }
  return std::nullopt;
}

}  // namespace fusefarm::graph
