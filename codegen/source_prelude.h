// What every generated source starts with: the entry ABI, vector types and element conversions.
#pragma once

#include <string_view>

namespace fusefarm::codegen {

std::string_view source_prelude();
std::string_view exp_source();    // ff_exp, ff_silu
std::string_view angle_source();  // ff_angles: cos and sin of position * frequency

}  // namespace fusefarm::codegen
