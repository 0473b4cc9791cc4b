#include "base/text.h"
#include "graph/model_family.h"

namespace fusefarm::graph {
namespace {

Result<void> read_scaling(ConfigReader& outer, const std::string& outer_key, std::string_view text,
                          const std::string& source, ModelConfig& config) {
  const nlohmann::json& object = outer.value(outer_key);
  if (object.is_null()) {
    return {};
  }
  if (!object.is_object()) {
    return outer.wrong(outer_key, "set it to null or an object");
  }
  ConfigReader inner(object, text, source);
  const std::string spelled = inner.has("rope_type") ? "rope_type" : "type";
  const std::string type = TRY(inner.text(spelled, "default"));
  if (type != "default" && type != "llama3") {
    return outer.wrong(outer_key,
                       "rope scaling '" + type.substr(0, 40) +
                           "' is not supported; supported: null, default, llama3",
                       ErrorCode::kUnsupported);
  }
  inner.value("type");
  if (inner.has("rope_theta")) {
    const double theta = TRY(inner.real("rope_theta"));
    if (outer.has("rope_theta") && theta != config.rope_theta) {
      return outer.wrong("rope_theta", "it contradicts the one in " + outer_key + "; remove one");
    }
    config.rope_theta = theta;
  }
  if (inner.has("partial_rotary_factor")) {
    const double factor = TRY(inner.real("partial_rotary_factor"));
    config.rotary_dim = static_cast<std::int64_t>(static_cast<double>(config.head_dim) * factor);
  }
  if (type == "llama3") {
    config.rope_scaling = type;
    config.rope_factor = TRY(inner.real("factor"));
    config.rope_low_freq = TRY(inner.real("low_freq_factor"));
    config.rope_high_freq = TRY(inner.real("high_freq_factor"));
    config.rope_original_max =
        TRY(inner.integer("original_max_position_embeddings", std::int64_t{1} << 32));
    if (config.rope_high_freq <= config.rope_low_freq) {
      return inner.wrong("high_freq_factor", "it must be larger than low_freq_factor");
    }
  }
  return inner.refuse_unread({}, config.family + " (in " + outer_key + ")");
}

}  // namespace

Result<void> read_rope(ConfigReader& reader, std::string_view text, const std::string& source,
                       ModelConfig& config) {
  // Without a key the whole head rotates, but for glm4_moe, whose code says half.
  const bool glm = config.family == "glm4_moe";
  const bool partial = glm || config.family == "llada2_moe";
  config.rotary_dim = glm ? config.head_dim / 2 : config.head_dim;
  config.rope_theta = TRY(reader.real("rope_theta", 10000.0));
  if (reader.has("partial_rotary_factor")) {
    const double factor = TRY(reader.real("partial_rotary_factor"));
    config.rotary_dim =
        factor > 1 ? config.head_dim + 1
                   : static_cast<std::int64_t>(static_cast<double>(config.head_dim) * factor);
  }
  if (reader.has("rotary_dim")) {
    const std::int64_t rotary = TRY(reader.integer("rotary_dim", config.head_dim));
    if (reader.has("partial_rotary_factor") && rotary != config.rotary_dim) {
      return reader.wrong("rotary_dim", "it contradicts partial_rotary_factor; remove one");
    }
    config.rotary_dim = rotary;
  }
  TRY(read_scaling(reader, "rope_scaling", text, source, config));
  TRY(read_scaling(reader, "rope_parameters", text, source, config));
  TRY(reader.require("rope_interleaved", false, "interleaved rope is not supported"));
  const std::string key =
      reader.has("rotary_dim")
          ? "rotary_dim"
          : (reader.has("partial_rotary_factor") ? "partial_rotary_factor" : "head_dim");
  if (config.rotary_dim < 2 || config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_dim) {
    return reader.wrong(key, "the rotated part of a head must be an even number of its " +
                                 std::to_string(config.head_dim) + " dims");
  }
  if (!partial && config.rotary_dim != config.head_dim) {
    return reader.wrong(key, "family '" + config.family + "' rotates the whole head",
                        ErrorCode::kUnsupported);
  }
  return {};
}

}  // namespace fusefarm::graph
