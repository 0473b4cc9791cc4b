#include "cli/graph_command.h"

#include <iostream>
#include <memory>
#include <string>

#include "base/files.h"
#include "cli/exit_code.h"
#include "cli/graph_report.h"
#include "cli/graph_source.h"
#include "graph/graph_io.h"

namespace fusefarm::cli {
namespace {

Result<void> import_graph(const GraphOptions& options) {
  const GraphSource source = TRY(load_graph(options));
  if (!options.save.empty()) {
    TRY(write_file_atomically(options.save, graph::to_json(source.model)));
  }
  const nlohmann::json report = import_report(source);
  if (options.output == "json") {
    std::cout << report.dump() << "\n";
  } else if (options.output == "wide") {
    std::cout << import_table(report) << "\n" << nodes_table(report, false);
  } else {
    std::cout << import_table(report);
  }
  return {};
}

Result<void> show_graph(const GraphOptions& options) {
  const nlohmann::json report = import_report(TRY(load_graph(options)));
  if (options.output == "json") {
    std::cout << report.dump() << "\n";
  } else {
    std::cout << nodes_table(report, options.output == "wide");
  }
  return {};
}

Result<void> show_regions(const GraphOptions& options) {
  const nlohmann::json report = regions_report(TRY(load_graph(options)), options.nodes_max);
  if (options.output == "json") {
    std::cout << report.dump() << "\n";
  } else {
    std::cout << regions_table(report, options.output == "wide");
  }
  return {};
}

Result<void> draw_graph(const GraphOptions& options) {
  std::cout << graph::to_dot(TRY(load_graph(options)).model);
  return {};
}

using Action = Result<void> (*)(const GraphOptions&);

// One of the four commands; they share the options that say which graph is meant.
CLI::App* add_action(CLI::App& parent, const std::string& name, const std::string& help,
                     const std::shared_ptr<GraphOptions>& options, Action action, int& exit_code) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->add_option("CONFIG", options->path, "config.json of a model, or a saved graph")
      ->required();
  command->add_option("--tensor", options->tensor, "tensor-parallel ranks")->capture_default_str();
  command->add_option("--layers", options->layers, "only the first N layers (0: all)")
      ->capture_default_str();
  command
      ->add_option("--workload", options->workload,
                   "decode:BATCH:CONTEXT, prefill:TOKENS[:CONTEXT], block:BATCH:CONTEXT[:BLOCK]")
      ->capture_default_str();
  command->add_option("--dtype", options->dtype, "bf16 or f32")->capture_default_str();
  command->callback([options, action, &exit_code] {
    const Result<void> done = action(*options);
    exit_code = done.ok() ? kExitDone : report_error(done.error());
  });
  return command;
}

void add_output(CLI::App* command, const std::shared_ptr<GraphOptions>& options) {
  command->add_option("-o,--output", options->output, "table, wide or json")
      ->check(CLI::IsMember({"table", "wide", "json"}))
      ->capture_default_str();
}

}  // namespace

void add_graph_command(CLI::App& app, int& exit_code) {
  // Shared with the callbacks, which outlive this function.
  auto options = std::make_shared<GraphOptions>();
  CLI::App* graph = app.add_subcommand("graph", "What a model config means as a graph");
  graph->require_subcommand(1);
  CLI::App* import =
      add_action(*graph, "import", "Import a model config: parameters, shapes, sharding", options,
                 import_graph, exit_code);
  add_output(import, options);
  import->add_option("--save", options->save, "also write the graph itself to this file");
  add_output(
      add_action(*graph, "show", "List the nodes of the graph", options, show_graph, exit_code),
      options);
  CLI::App* regions = add_action(*graph, "regions", "List the regions that could be fused", options,
                                 show_regions, exit_code);
  add_output(regions, options);
  regions->add_option("--nodes", options->nodes_max, "most nodes in a region")
      ->check(CLI::Range(2, 12))
      ->capture_default_str();
  add_action(*graph, "dot", "Print the graph for Graphviz", options, draw_graph, exit_code);
}

}  // namespace fusefarm::cli
