#include "cli/history_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/history_report.h"
#include "records/verdict.h"

namespace fusefarm::cli {
namespace {

struct HistoryOptions {
  std::string store = "history.db";
  std::string output = "table";
  std::string what = "experiments";
  std::string campaign;  // id or name
  std::string region;
  std::string verdict;
  std::string kind;
  std::int64_t limit = 50;
  std::string reference;
};

Result<store::ExperimentFilter> filter_of(const HistoryOptions& options) {
  store::ExperimentFilter filter;
  const Result<std::int64_t> number = parse_int(options.campaign);
  if (number.ok() && *number > 0) {
    filter.campaign = CampaignId{static_cast<std::uint64_t>(*number)};
  } else {
    filter.campaign_name = options.campaign;
  }
  filter.region_prefix = options.region;
  if (options.region.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return Error{ErrorCode::kInvalidArgument,
                 "--region '" + options.region + "' is not the beginning of a region's signature"};
  }
  filter.verdict = options.verdict;
  std::ranges::transform(filter.verdict, filter.verdict.begin(), [](unsigned char c) {
    return static_cast<char>(c == '-' ? '_' : std::toupper(c));
  });
  if (!filter.verdict.empty() && !verdict_class_from(filter.verdict)) {
    return Error{ErrorCode::kInvalidArgument, "--verdict '" + options.verdict +
                                                  "' is no verdict class (IMPROVED, NO_GAIN, ...)"};
  }
  filter.kind = options.kind;
  filter.limit = options.limit;
  return filter;
}

Result<void> list(const HistoryOptions& options) {
  const store::ExperimentFilter filter = TRY(filter_of(options));
  const std::unique_ptr<store::History> history = TRY(store::History::open(options.store));
  const bool wide = options.output == "wide";
  nlohmann::json rows;
  std::string table;
  if (options.what == "campaigns") {
    rows = TRY(campaigns_report(*history));
    table = campaigns_table(rows, wide);
  } else if (options.what == "rewrites") {
    rows = TRY(rewrites_report(*history, filter));
    table = rewrites_table(rows, wide);
  } else {
    rows = TRY(experiments_report(*history, filter));
    table = experiments_table(rows, wide);
  }
  std::cout << (options.output == "json" ? rows.dump() + "\n" : table);
  return {};
}

Result<nlohmann::json> find(const store::History& history, const std::string& reference) {
  const std::size_t slash = reference.find('/');
  const std::string type = slash == std::string::npos ? "experiment" : reference.substr(0, slash);
  const std::string name = slash == std::string::npos ? reference : reference.substr(slash + 1);
  if (type == "candidate") {
    return candidate_report(history, TRY(Digest::from_hex(name)));
  }
  const Result<std::int64_t> number = parse_int(name);
  if (!number.ok() || *number < 1 || (type != "experiment" && type != "campaign")) {
    return Error{ErrorCode::kInvalidArgument,
                 "'" + reference + "' is none of ID, experiment/ID, campaign/ID, candidate/DIGEST"};
  }
  const auto id = static_cast<std::uint64_t>(*number);
  if (type == "campaign") {
    return campaign_report(history, CampaignId{id});
  }
  return experiment_report(history, ExperimentId{id});
}

Result<void> show(const HistoryOptions& options) {
  const std::unique_ptr<store::History> history = TRY(store::History::open(options.store));
  nlohmann::json object = TRY(find(*history, options.reference));
  if (options.output == "json") {
    std::cout << object.dump() << "\n";
    return {};
  }
  if (options.output == "table" && object.contains("outcome") && object["outcome"].is_object()) {
    object["outcome"].erase("measurements");  // raw samples: with -o wide and json
  }
  std::cout << fields_table(object);
  return {};
}

void add_shared_options(CLI::App& command, const std::shared_ptr<HistoryOptions>& options) {
  command.add_option("--store", options->store, "the history database")->capture_default_str();
  command.add_option("-o,--output", options->output, "table, wide or json")
      ->check(CLI::IsMember({"table", "wide", "json"}))
      ->capture_default_str();
}

}  // namespace

void add_history_command(CLI::App& app, int& exit_code) {
  // Shared with the callbacks, which outlive this function.
  auto options = std::make_shared<HistoryOptions>();
  CLI::App* history = app.add_subcommand("history", "What was tried, and what became of it");
  history->require_subcommand(1);
  CLI::App* listing = history->add_subcommand("list", "List experiments, campaigns or rewrites");
  listing->add_option("WHAT", options->what, "experiments, campaigns or rewrites")
      ->check(CLI::IsMember({"experiments", "campaigns", "rewrites"}))
      ->capture_default_str();
  add_shared_options(*listing, options);
  listing->add_option("--campaign", options->campaign, "only of this campaign (id or name)");
  listing->add_option("--region", options->region, "only of regions whose signature begins so");
  listing->add_option("--verdict", options->verdict, "only with this verdict, e.g. IMPROVED");
  listing->add_option("--kind", options->kind, "only of this kind")
      ->check(CLI::IsMember({"profile", "screen", "confirm", "integration", "end_to_end"}));
  listing->add_option("--limit", options->limit, "at most so many experiments, newest first")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  CLI::App* showing = history->add_subcommand("show", "Show all of one experiment, campaign, ...");
  showing
      ->add_option("REFERENCE", options->reference,
                   "ID of an experiment, experiment/ID, campaign/ID or candidate/DIGEST")
      ->required();
  add_shared_options(*showing, options);
  const auto run = [options, &exit_code](Result<void> (*action)(const HistoryOptions&)) {
    return [options, action, &exit_code] {
      const Result<void> done = action(*options);
      exit_code = done.ok() ? kExitDone : report_error(done.error());
    };
  };
  listing->callback(run(list));
  showing->callback(run(show));
}

}  // namespace fusefarm::cli
