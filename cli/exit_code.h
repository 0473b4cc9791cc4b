// Exit codes of the command, as docs/formats.md and --help state them.
#pragma once

#include "base/result.h"

namespace fusefarm::cli {

constexpr int kExitDone = 0;
constexpr int kExitUsage = 2;  // usage, config or model error
constexpr int kExitUnavailable = 3;
constexpr int kExitIntegrity = 4;
constexpr int kExitInterrupted = 5;
constexpr int kExitNoGain = 10;  // only with --fail-on-no-gain
constexpr int kExitInternal = 70;

int exit_code_of(ErrorCode code);

// Prints "fusefarm: <message>" to stderr; returns the exit code.
int report_error(const Error& error);

}  // namespace fusefarm::cli
