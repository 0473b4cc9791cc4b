// fusefarm history list|show: what a history database holds. Reads only, so it works beside a run.
#pragma once

#include <CLI/CLI.hpp>

namespace fusefarm::cli {

// Adds the subcommand; when it was given, its exit code is written to `exit_code`, which must
// outlive `app`.
void add_history_command(CLI::App& app, int& exit_code);

}  // namespace fusefarm::cli
