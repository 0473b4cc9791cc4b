#include "cli/graph_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "graph/cost.h"
#include "graph/graph_json_reader.h"
#include "graph/region.h"

namespace fusefarm::cli {
namespace {

using nlohmann::json;

json operand_json(const graph::Graph& model, graph::TensorId id, const graph::Bindings& bindings) {
  const graph::Tensor& tensor = model.tensor(id);
  return {{"name", tensor.name},
          {"kind", graph::to_string(tensor.kind)},
          {"dtype", graph::to_string(tensor.dtype)},
          {"shape", graph::bound_shape(tensor, bindings)}};
}

json node_json(const graph::Graph& model, const graph::Node& node,
               const graph::Bindings& bindings) {
  json out{{"id", node.id},           {"op", graph::to_string(node.op)},
           {"name", node.name},       {"shape_in", nullptr},
           {"shape_out", nullptr},    {"weight_shape", nullptr},
           {"inputs", json::array()}, {"outputs", json::array()},
           {"weights", json::array()}};
  for (const graph::TensorId id : node.inputs) {
    json operand = operand_json(model, id, bindings);
    const bool weight = model.tensor(id).kind == graph::TensorKind::kWeight;
    json& first = out[weight ? "weight_shape" : "shape_in"];
    if (first.is_null()) {
      first = operand["shape"];
    }
    out[weight ? "weights" : "inputs"].push_back(std::move(operand));
  }
  for (const graph::TensorId id : node.outputs) {
    json operand = operand_json(model, id, bindings);
    if (out["shape_out"].is_null()) {
      out["shape_out"] = operand["shape"];
    }
    out["outputs"].push_back(std::move(operand));
  }
  const graph::Cost cost = graph::node_cost(model, node, bindings);
  out["bytes"] = cost.bytes();
  out["weight_bytes"] = cost.weight_bytes;
  out["flops"] = cost.flops;
  return out;
}

json model_json(const graph::ModelConfig& config) {
  return {{"family", config.family},
          {"parameters", graph::parameter_count(config, false)},
          {"parameters_with_mtp", graph::parameter_count(config, true)},
          {"hidden", config.hidden},
          {"vocabulary", config.vocabulary},
          {"experts", config.experts},
          {"experts_per_token", config.experts_per_token},
          {"mtp_layers", config.mtp_layers},
          {"tied_embeddings", config.tied_embeddings}};
}

json rank_json(const graph::ModelConfig& config, const graph::Shard& shard) {
  return {{"ranks", shard.ranks},
          {"query_heads", shard.heads},
          {"kv_heads", shard.kv_heads},
          {"kv_replicated", shard.kv_replicated},
          {"head_dim", config.head_dim},
          {"qkv_columns", (shard.heads + 2 * shard.kv_heads) * config.head_dim},
          {"intermediate", shard.intermediate},
          {"expert_intermediate", shard.expert_intermediate},
          {"vocabulary", shard.vocabulary}};
}

json workload_json(const Workload& workload) {
  return {{"name", workload.name},
          {"phase", to_string(workload.phase)},
          {"batch", workload.batch},
          {"context", workload.context},
          {"tokens", workload.tokens}};
}

// Nodes of the decoder stack in one list a layer; the rest before and after.
void add_nodes(const GraphSource& source, json& report) {
  const graph::Bindings bindings = source.workload.bindings();
  json layers = json::array();
  json before = json::array();
  json after = json::array();
  std::map<std::int32_t, std::size_t> index;
  for (const graph::Node& node : source.model.nodes()) {
    json described = node_json(source.model, node, bindings);
    if (node.layer == graph::kNone) {
      (layers.empty() ? before : after).push_back(std::move(described));
      continue;
    }
    const auto [entry, added] = index.try_emplace(node.layer, layers.size());
    if (added) {
      layers.push_back({{"layer", node.layer}, {"kind", "dense"}, {"nodes", json::array()}});
    }
    json& layer = layers[entry->second];
    if (node.op == graph::OpKind::kExpertLinear) {
      layer["kind"] = "moe";
    }
    layer["nodes"].push_back(std::move(described));
  }
  report["before_layers"] = std::move(before);
  report["layers"] = std::move(layers);
  report["after_layers"] = std::move(after);
}

std::int64_t collectives_per_layer(const graph::Graph& model) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const graph::Node& node : model.nodes()) {
    if (node.layer != graph::kNone) {
      counts[node.layer] += graph::is_collective(node.op) ? 1 : 0;
    }
  }
  std::int64_t most = 0;
  for (const auto& [layer, count] : counts) {
    most = std::max(most, count);
  }
  return most;
}

std::string ops_of(const graph::Graph& region) {
  std::string text;
  for (const graph::Node& node : region.nodes()) {
    if (graph::is_view(node.op)) {
      continue;
    }
    text += (text.empty() ? "" : "+") + std::string(graph::to_string(node.op));
  }
  return text;
}

// Most bytes saved over all occurrences first; the signature settles ties.
std::pair<std::int64_t, std::string> rank_of(const json& region) {
  const auto saved = region["bytes_saved"].get<std::int64_t>();
  return {-saved * region["occurrences"].get<std::int64_t>(),
          region["signature"].get<std::string>()};
}

}  // namespace

nlohmann::json import_report(const GraphSource& source) {
  json report = source.config ? model_json(*source.config) : json::object();
  if (source.config) {
    report["rank"] = rank_json(*source.config, source.shard);
  }
  report["workload"] = workload_json(source.workload);
  report["graph_version"] = source.model.version;
  report["nodes"] = source.model.nodes().size();
  report["collectives_per_layer"] = collectives_per_layer(source.model);
  const graph::Cost cost = graph::region_cost(source.model, source.workload.bindings());
  report["step"] = {
      {"bytes", cost.bytes()}, {"weight_bytes", cost.weight_bytes}, {"flops", cost.flops}};
  add_nodes(source, report);
  return report;
}

nlohmann::json regions_report(const GraphSource& source, int nodes_max) {
  const graph::Bindings bindings = source.workload.bindings();
  graph::EnumerateOptions options;
  options.nodes_max = nodes_max;
  options.may_contain = [](const graph::Node& node) { return !graph::is_collective(node.op); };
  const std::vector<graph::NodeSet> sets = graph::enumerate_regions(source.model, options);
  std::vector<json> regions;
  for (const graph::RegionClass& one : graph::classify_regions(source.model, sets)) {
    const graph::NodeSet& first = sets[one.occurrences.front()];
    const Result<graph::Graph> region = graph::extract_region(source.model, first.nodes);
    if (!region.ok()) {
      continue;
    }
    std::int64_t apart = 0;
    json members = json::array();
    for (const graph::NodeId id : first.nodes) {
      const graph::Node& node = source.model.node(id);
      apart += graph::node_cost(source.model, node, bindings).bytes();
      members.push_back(node.name);
    }
    const graph::Cost cost = graph::region_cost(*region, bindings);
    regions.push_back({{"signature", one.signature.hex()},
                       {"occurrences", one.occurrences.size()},
                       {"ops", ops_of(*region)},
                       {"first", std::move(members)},
                       {"bytes", cost.bytes()},
                       {"bytes_saved", apart - cost.bytes()},
                       {"flops", cost.flops}});
  }
  std::ranges::sort(regions, [](const json& a, const json& b) { return rank_of(a) < rank_of(b); });
  return {{"workload", workload_json(source.workload)},
          {"nodes_max", nodes_max},
          {"sets", sets.size()},
          {"regions", std::move(regions)}};
}

}  // namespace fusefarm::cli
