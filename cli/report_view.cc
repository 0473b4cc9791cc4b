#include "cli/report_view.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"

namespace fusefarm::cli {
namespace {

using nlohmann::json;

// "1.283x [1.251, 1.310]"
std::string speedup(const json& interval) {
  if (!interval.is_object()) {
    return "-";
  }
  const auto end = [&](const char* name) {
    const json& value = interval.at(name);
    return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : std::string("?");
  };
  return end("estimate") + "x [" + end("lo") + ", " + end("hi") + "]";
}

std::string percent(const json& share) {
  return fmt::format("{:.1f} %", 100 * share.get<double>());
}

std::string headline(const json& report) {
  std::string text = fmt::format("campaign {}: {}\n", report.at("campaign").get<std::string>(),
                                 report.at("result").get<std::string>());
  const json& whole = report.at("end_to_end");
  if (!whole.is_object()) {
    return text;
  }
  text += fmt::format("end to end: {}  ({})\n", speedup(whole.at("speedup")),
                      whole.at("compared").get<std::string>());
  TextTable table({"WORKLOAD", "SPEEDUP", "BEFORE", "AFTER", "VALUES", "TOKEN FLIPS"});
  for (const json& one : whole.at("workloads")) {
    table.add({one.at("workload").get<std::string>(), speedup(one.at("speedup")),
               fmt::format("{:.3f} ms", 1e3 * one.at("before_seconds").get<double>()),
               fmt::format("{:.3f} ms", 1e3 * one.at("after_seconds").get<double>()),
               one.at("values_ok").get<bool>() ? "ok" : "WRONG",
               fmt::format("{} of {}", one.at("token_flips").get<std::int64_t>(),
                           one.at("tokens_compared").get<std::int64_t>())});
  }
  return text + table.text();
}

std::string rewrites(const json& report) {
  if (report.at("rewrites").empty()) {
    return "no rewrites were committed\n";
  }
  TextTable table({"PHASE", "REGION", "WORKLOAD", "SHARE", "CONFIRMED", "AT", "CONTAINS"});
  for (const json& one : report.at("rewrites")) {
    std::string contains;
    for (const json& member : one.at("contains")) {
      contains += (contains.empty() ? "" : " ") + member.get<std::string>();
    }
    table.add({std::to_string(one.at("phase").get<int>()),
               one.at("region").get<std::string>().substr(0, 12),
               one.at("workload").get<std::string>(), percent(one.at("share")),
               speedup(one.at("confirmation")),
               fmt::format("{} places", one.at("occurrences").get<int>()), contains});
  }
  return table.text();
}

std::string summary(const json& report) {
  std::string verdicts;
  for (const auto& [name, count] : report.at("verdicts").items()) {
    verdicts += fmt::format(" {} {}", name, count.get<std::int64_t>());
  }
  const json& experiments = report.at("experiments");
  const json& environment = report.at("environment");
  const json& realised = report.at("realised_over_predicted");
  std::string text = fmt::format(
      "experiments: {} ({} executed, {} reused){}{}\n", experiments.at("total").get<std::int64_t>(),
      experiments.at("executed").get<std::int64_t>(), experiments.at("reused").get<std::int64_t>(),
      verdicts.empty() ? "" : ":", verdicts);
  if (realised.is_number()) {
    text += fmt::format("predicted from the regions: {:.3f}x; realised over predicted: {:.2f}\n",
                        report.at("predicted_speedup").get<double>(), realised.get<double>());
  }
  if (!report.at("rolled_back").empty()) {
    text += fmt::format("rolled back after integration: {}\n", report.at("rolled_back").size());
  }
  return text +
         fmt::format("device: {}, {} threads, {}, isolation {}; gpu: absent\nwall time: {:.1f} s\n",
                     environment.at("device_class").get<std::string>(),
                     environment.at("threads").get<int>(),
                     environment.at("toolchain").get<std::string>(),
                     environment.at("isolation").get<std::string>(),
                     report.at("wall_seconds").get<double>());
}

}  // namespace

Result<std::string> report_text(const std::string& report_json) {
  try {
    const json report = json::parse(report_json);
    return headline(report) + "\n" + rewrites(report) + "\n" + summary(report);
  } catch (const json::exception& error) {
    return Error{ErrorCode::kIntegrity, std::string("the report is not readable: ") + error.what()};
  }
}

}  // namespace fusefarm::cli
