// fusefarm doctor: what this host has, what it lacks, and what to do about it.
#pragma once

#include <CLI/CLI.hpp>

namespace fusefarm::cli {

// Adds the subcommand; when it was given, its exit code is written to `exit_code`, which must
// outlive `app`: 0 when `fusefarm run` can work here, otherwise 70.
void add_doctor_command(CLI::App& app, int& exit_code);

}  // namespace fusefarm::cli
