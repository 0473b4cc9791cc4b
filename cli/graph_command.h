// fusefarm graph import|show|regions|dot: what a model config means, without running anything.
#pragma once

#include <CLI/CLI.hpp>

namespace fusefarm::cli {

// Adds the subcommand; when it was given, its exit code is written to `exit_code`, which must
// outlive `app`.
void add_graph_command(CLI::App& app, int& exit_code);

}  // namespace fusefarm::cli
