// fusefarm run CAMPAIGN.yaml: coordinator and a local worker in one process.
#pragma once

#include <CLI/CLI.hpp>

namespace fusefarm::cli {

// Adds the subcommand; when it was given, its exit code is written to `exit_code`, which must
// outlive `app`.
void add_run_command(CLI::App& app, int& exit_code);

}  // namespace fusefarm::cli
