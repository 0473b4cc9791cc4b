// The decoder families the importer knows, and how each one spells its config.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "graph/config_reader.h"
#include "graph/model_import.h"

namespace fusefarm::graph {

// Decides the family from `model_type` and `architectures`, which must agree. Everything that is
// not exactly a known pair is refused, naming file, key, value and what is supported.
Result<std::string> model_family(ConfigReader& reader);

// Fill the parts of `config` that are spelled differently; config.family is set.
Result<void> read_attention(ConfigReader& reader, ModelConfig& config);
Result<void> read_rope(ConfigReader& reader, std::string_view text, const std::string& source,
                       ModelConfig& config);
Result<void> read_experts(ConfigReader& reader, ModelConfig& config);

// Refuses features that the graph would not have: windows, other activations, quantised weights.
Result<void> refuse_unsupported(ConfigReader& reader, const ModelConfig& config);

}  // namespace fusefarm::graph
