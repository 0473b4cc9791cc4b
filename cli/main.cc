// fusefarm: the one command for people.
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/doctor_command.h"
#include "cli/exit_code.h"
#include "cli/graph_command.h"
#include "cli/history_command.h"
#include "cli/run_command.h"

namespace {

constexpr const char* kVersion = FUSEFARM_VERSION;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Searches fusion boundaries and kernels of a model together, and keeps only what is measured"
      " faster and checked right.",
      "fusefarm"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("fusefarm ") + kVersion);
  int exit_code = 0;
  fusefarm::cli::add_run_command(app, exit_code);
  fusefarm::cli::add_graph_command(app, exit_code);
  fusefarm::cli::add_history_command(app, exit_code);
  fusefarm::cli::add_doctor_command(app, exit_code);
  app.add_subcommand("version", "Print the version")->callback([] {
    std::cout << "fusefarm " << kVersion << "\n";
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : fusefarm::cli::kExitUsage;
  }
  return exit_code;
}
