#include "cli/graph_source.h"

#include "base/files.h"
#include "cli/workload_argument.h"
#include "graph/graph_io.h"
#include "graph/graph_json_reader.h"

namespace fusefarm::cli {

Result<GraphSource> load_graph(const GraphOptions& options) {
  GraphSource source;
  source.workload = TRY(parse_workload_argument(options.workload));
  const std::optional<graph::DType> dtype = graph::dtype_from(options.dtype);
  if (!dtype || *dtype == graph::DType::kI32) {
    return Error{ErrorCode::kInvalidArgument,
                 "--dtype '" + options.dtype.substr(0, 40) + "': use bf16 or f32"};
  }
  const std::string text = TRY(read_file(options.path));
  if (text.find(graph::kGraphFormat) != std::string::npos) {
    Result<graph::Graph> saved = graph::graph_from_json(text);
    if (!saved.ok()) {
      return saved.error().with_context(options.path);
    }
    source.model = saved.take();
    return source;
  }
  graph::ModelConfig config = TRY(graph::parse_model_config(text, options.path));
  const auto in_file = [&](const Error& error) { return error.with_context(options.path); };
  Result<graph::Shard> shard = graph::shard_of(config, options.tensor);
  if (!shard.ok()) {
    return in_file(shard.error());
  }
  source.shard = shard.take();
  graph::ImportOptions import;
  import.tensor_parallel = options.tensor;
  import.layers = options.layers;
  import.phase = source.workload.phase;
  import.dtype = *dtype;
  Result<graph::Graph> model = graph::build_model_graph(config, import);
  if (!model.ok()) {
    return in_file(model.error());
  }
  source.model = model.take();
  source.config = std::move(config);
  return source;
}

}  // namespace fusefarm::cli
