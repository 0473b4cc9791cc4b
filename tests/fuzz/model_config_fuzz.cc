// A config is refused with a reason, or makes a graph that its own rules accept.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "graph/graph_io.h"
#include "graph/model_import.h"

namespace {

using namespace fusefarm;  // NOLINT(google-build-using-namespace)

void build(const graph::ModelConfig& config, std::int64_t ranks, graph::Phase phase) {
  graph::ImportOptions options;
  options.tensor_parallel = ranks;
  options.phase = phase;
  options.layers = config.layers < 3 ? 0 : 3;
  const Result<graph::Graph> model = graph::build_model_graph(config, options);
  if (!model.ok()) {
    return;
  }
  const Result<void> valid = graph::validate(*model);
  FUSEFARM_CHECK(valid.ok(), valid.ok() ? "" : valid.error().message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<graph::ModelConfig> config = graph::parse_model_config(text, "fuzz.json");
  if (!config.ok()) {
    FUSEFARM_CHECK(config.error().message.starts_with("fuzz.json"), config.error().message);
    return 0;
  }
  FUSEFARM_CHECK(graph::parameter_count(*config, true) > 0, "parameter count overflowed");
  for (const std::int64_t ranks : {1, 8}) {
    build(*config, ranks, graph::Phase::kDecode);
    build(*config, ranks, graph::Phase::kBlockDiffusion);
  }
  return 0;
}
