#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/graph_report.h"
#include "cli/text_table.h"

namespace fusefarm::cli {
namespace {

using nlohmann::json;

std::string shape_text(const json& shape) {
  if (shape.is_null()) {
    return "-";
  }
  std::string text = "[";
  for (const json& dim : shape) {
    text += (text.size() > 1 ? "," : "") + std::to_string(dim.get<std::int64_t>());
  }
  return text + "]";
}

// 1.5 k, 2.0 M, 3.1 G: three digits are enough to compare.
std::string amount(double value) {
  const char* const units[] = {"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}{}", value, units[unit]);
}

std::string operands_text(const json& operands) {
  std::string text;
  for (const json& operand : operands) {
    text += (text.empty() ? "" : " ") + operand["dtype"].get<std::string>() +
            shape_text(operand["shape"]);
  }
  return text.empty() ? "-" : text;
}

void add_node_rows(const json& nodes, bool wide, TextTable& table) {
  for (const json& node : nodes) {
    std::vector<std::string> row{
        node["name"].get<std::string>(),    node["op"].get<std::string>(),
        shape_text(node["shape_in"]),       shape_text(node["shape_out"]),
        shape_text(node["weight_shape"]),   amount(node["bytes"].get<double>()),
        amount(node["flops"].get<double>())};
    if (wide) {
      row.push_back(std::to_string(node["id"].get<int>()));
      row.push_back(operands_text(node["inputs"]));
      row.push_back(operands_text(node["outputs"]));
    }
    table.add(std::move(row));
  }
}

}  // namespace

std::string nodes_table(const json& report, bool wide) {
  std::vector<std::string> header{"NAME", "OP", "IN", "OUT", "WEIGHT", "BYTES", "FLOPS"};
  if (wide) {
    header.insert(header.end(), {"ID", "INPUTS", "OUTPUTS"});
  }
  TextTable table(std::move(header));
  add_node_rows(report["before_layers"], wide, table);
  for (const json& layer : report["layers"]) {
    add_node_rows(layer["nodes"], wide, table);
  }
  add_node_rows(report["after_layers"], wide, table);
  return table.text();
}

std::string import_table(const json& report) {
  TextTable table({"WHAT", "VALUE"});
  const auto fact = [&](const std::string& what, const std::string& value) {
    table.add({what, value});
  };
  if (report.contains("family")) {
    const json& rank = report["rank"];
    fact("family", report["family"].get<std::string>());
    fact("parameters", amount(report["parameters"].get<double>()));
    fact("parameters with MTP", amount(report["parameters_with_mtp"].get<double>()));
    fact("ranks", std::to_string(rank["ranks"].get<std::int64_t>()));
    fact("query heads per rank", std::to_string(rank["query_heads"].get<std::int64_t>()));
    fact("KV heads per rank", std::to_string(rank["kv_heads"].get<std::int64_t>()) +
                                  (rank["kv_replicated"].get<bool>() ? " (replicated)" : ""));
    fact("qkv columns per rank", std::to_string(rank["qkv_columns"].get<std::int64_t>()));
  }
  fact("workload", report["workload"]["name"].get<std::string>());
  fact("layers", std::to_string(report["layers"].size()));
  fact("nodes", std::to_string(report["nodes"].get<std::size_t>()));
  fact("collectives per layer",
       std::to_string(report["collectives_per_layer"].get<std::int64_t>()));
  fact("bytes per step and rank", amount(report["step"]["bytes"].get<double>()));
  fact("FLOPs per step and rank", amount(report["step"]["flops"].get<double>()));
  return table.text();
}

std::string regions_table(const json& report, bool wide) {
  std::vector<std::string> header{"REGION", "OCCURRENCES", "SAVED", "BYTES", "FLOPS", "OPS"};
  if (wide) {
    header.insert(header.end(), {"SIGNATURE", "FIRST"});
  }
  TextTable table(std::move(header));
  for (const json& region : report["regions"]) {
    const auto signature = region["signature"].get<std::string>();
    std::vector<std::string> row{signature.substr(0, 12),
                                 std::to_string(region["occurrences"].get<std::size_t>()),
                                 amount(region["bytes_saved"].get<double>()),
                                 amount(region["bytes"].get<double>()),
                                 amount(region["flops"].get<double>()),
                                 region["ops"].get<std::string>()};
    if (wide) {
      row.push_back(signature);
      row.push_back(region["first"].front().get<std::string>());
    }
    table.add(std::move(row));
  }
  return table.text();
}

}  // namespace fusefarm::cli
