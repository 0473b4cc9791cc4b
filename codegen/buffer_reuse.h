// Private buffers of equal shape whose lives don't overlap share memory: a linear scan over the
// steps (Poletto and Sarkar 1999).
#pragma once

#include <cstdint>
#include <vector>

#include "records/program.h"

namespace fusefarm::codegen {

// Renumbers the buffers; returns the new index of each old one (-1: never used, dropped).
std::vector<std::int32_t> reuse_private_buffers(Program& program);

}  // namespace fusefarm::codegen
