#include <nlohmann/json.hpp>

#include "graph/graph_io.h"
#include "graph/graph_json_reader.h"
#include "graph/strict_json.h"

namespace fusefarm::graph {
namespace {

using nlohmann::json;

json dim_json(Dim dim) {
  if (dim.symbol == Symbol::kOne) {
    return dim.factor;
  }
  return to_string(dim);
}

json tensor_json(const Tensor& tensor) {
  json shape = json::array();
  for (const Dim dim : tensor.shape) {
    shape.push_back(dim_json(dim));
  }
  return {{"id", tensor.id},
          {"name", tensor.name},
          {"kind", to_string(tensor.kind)},
          {"dtype", to_string(tensor.dtype)},
          {"shape", std::move(shape)},
          {"init", to_string(tensor.init)},
          {"init_scale", tensor.init_scale}};
}

json graph_json(const Graph& graph);

json node_json(const Node& node) {
  json attrs = json::object();
  for (const auto& [name, value] : node.attrs.values()) {
    std::visit([&attrs, &key = name](const auto& held) { attrs[key] = held; }, value);
  }
  json out{{"id", node.id},
           {"op", to_string(node.op)},
           {"name", node.name},
           {"layer", node.layer},
           {"inputs", node.inputs},
           {"outputs", node.outputs},
           {"attrs", std::move(attrs)}};
  if (!node.aliases.empty()) {
    out["aliases"] = node.aliases;
  }
  if (node.body != nullptr) {
    out["body"] = graph_json(*node.body);
  }
  if (node.origin != nullptr) {
    out["origin"] = graph_json(*node.origin);
  }
  return out;
}

json graph_json(const Graph& graph) {
  json tensors = json::array();
  for (const auto& [id, tensor] : graph.tensors()) {
    tensors.push_back(tensor_json(tensor));
  }
  json nodes = json::array();
  for (const Node& node : graph.nodes()) {
    nodes.push_back(node_json(node));
  }
  return {{"version", graph.version},  {"next_id", graph.next_id}, {"tensors", std::move(tensors)},
          {"nodes", std::move(nodes)}, {"inputs", graph.inputs},   {"outputs", graph.outputs}};
}

}  // namespace

std::string to_json(const Graph& graph) {
  json out = graph_json(graph);
  out["format"] = kGraphFormat;
  return out.dump();
}

Result<Graph> graph_from_json(std::string_view text) {
  json parsed = TRY(parse_strict_json(text, "graph", false));
  const std::string format = kGraphFormat;
  if (!parsed.is_object() || !parsed.contains("format") || parsed["format"] != format) {
    return Error{ErrorCode::kInvalidArgument, "graph: key 'format' must be '" + format + "'"};
  }
  parsed.erase("format");
  Graph graph = TRY(read_graph_json(parsed));
  TRY(validate(graph));
  return graph;
}

}  // namespace fusefarm::graph
