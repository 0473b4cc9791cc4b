#include "cli/run_command.h"

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "base/files.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/local_worker.h"
#include "cli/progress_view.h"
#include "cli/report_view.h"
#include "configs/campaign_file.h"
#include "coordinator/campaign.h"
#include "coordinator/in_process_transport.h"
#include "store/store.h"

namespace fusefarm::cli {
namespace {

struct RunOptions {
  std::string file;
  std::string progress = "auto";
  std::string output = "table";
  std::string folder;
  std::optional<int> threads;
  std::optional<std::uint64_t> seed;
  bool fail_on_no_gain = false;
  bool explain = false;
};

// This process and its largest child: the executors' weights dominate both.
std::int64_t peak_memory_bytes() {
  std::int64_t bytes = 0;
  for (const __rusage_who who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (::getrusage(who, &usage) == 0) {
      bytes += std::int64_t{usage.ru_maxrss} * 1024;
    }
  }
  return bytes;
}

Result<CampaignSpec> load(const RunOptions& options) {
  CampaignSpec spec = TRY(configs::load_campaign(options.file));
  if (options.threads) {
    spec.threads = *options.threads;
  }
  if (options.seed) {
    spec.search.seed = *options.seed;
  }
  if (!options.folder.empty()) {
    spec.output_folder = options.folder;
  }
  const int cores = usable_cores();
  if (spec.threads == 0) {
    spec.threads = cores;
  }
  if (spec.threads < 0 || spec.threads > cores) {
    return Error{ErrorCode::kInvalidArgument, "threads: " + std::to_string(spec.threads) +
                                                  " is not within 1.." + std::to_string(cores) +
                                                  ", the cores this process may use"};
  }
  TRY(make_directories(spec.output_folder));
  return spec;
}

Result<coordinator::CampaignEnd> run(const CampaignSpec& spec, ProgressMode mode) {
  const Clock& clock = system_clock();
  const std::unique_ptr<store::Store> store =
      TRY(store::Store::open(spec.store_path, clock, store::StoreOptions{}));
  worker::WorkerOptions worker_options;
  worker_options.program_folder = TRY(program_folder());
  worker_options.threads = spec.threads;
  worker_options.seed = spec.search.seed;
  worker_options.gate = spec.gate;
  worker_options.sandbox_degraded_ok = spec.sandbox_degraded_ok;
  worker_options.cache_folder = spec.output_folder + "/cache";
  worker_options.clock = &clock;
  LocalWorker worker(worker_options);
  coordinator::InProcessTransport transport(worker);
  ProgressView view(mode, stderr, clock);
  coordinator::CampaignDeps deps{transport, *store, clock, view};
  deps.stop_requested = interrupted;
  deps.peak_memory_bytes = peak_memory_bytes;
  watch_for_interrupt();
  return coordinator::run_campaign(spec, std::move(deps));
}

Result<int> execute(const RunOptions& options) {
  if (options.explain) {
    std::cout << configs::explain_config();
    return kExitDone;
  }
  if (options.file.empty()) {
    return Error{ErrorCode::kInvalidArgument, "run: name a campaign file, or --explain-config"};
  }
  if (options.output != "table" && options.output != "json") {
    return Error{ErrorCode::kInvalidArgument,
                 "--output '" + options.output + "' is not one of table, json"};
  }
  const ProgressMode mode = TRY(progress_mode_from(options.progress, ::isatty(STDERR_FILENO) == 1));
  const CampaignSpec spec = TRY(load(options));
  const coordinator::CampaignEnd end = TRY(run(spec, mode));
  const std::string path = spec.output_folder + "/report.json";
  TRY(write_file_atomically(path, end.report));
  if (options.output == "json") {
    std::cout << end.report;
  } else {
    std::cout << TRY(report_text(end.report)) << "report: " << path << "\n";
  }
  return end.result == "no_gain" && options.fail_on_no_gain ? kExitNoGain : kExitDone;
}

int run_and_report(const RunOptions& options) {
  Result<int> code = execute(options);
  if (code.ok()) {
    return code.take();
  }
  if (code.error().code == ErrorCode::kCancelled) {
    std::cerr << "fusefarm: interrupted; everything so far is stored, the same command resumes\n";
    return kExitInterrupted;
  }
  return report_error(code.error());
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("run", "Run a campaign here: coordinator and worker in one process");
  // Shared with the callback, which outlives this function.
  const auto options = std::make_shared<RunOptions>();
  command->add_option("campaign", options->file, "Campaign file (YAML)");
  command->add_option("--progress", options->progress, "auto, bar, plain or none")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "table or json")->capture_default_str();
  command->add_option("--out", options->folder, "Folder of report.json, over output.folder");
  command->add_option("--threads", options->threads, "Cores to run on, over target.threads");
  command->add_option("--seed", options->seed, "Seed of the search, over search.seed");
  command->add_flag("--fail-on-no-gain", options->fail_on_no_gain,
                    "Exit 10 when the result is no_gain");
  command->add_flag("--explain-config", options->explain, "Print every key of a campaign file");
  command->footer(
      "Exit codes: 0 done, 2 usage or config error, 3 store or device in use, 4 integrity,\n"
      "5 interrupted (the same command resumes), 10 no gain with --fail-on-no-gain, 70 internal.");
  command->callback([options, &exit_code] { exit_code = run_and_report(*options); });
}

}  // namespace fusefarm::cli
