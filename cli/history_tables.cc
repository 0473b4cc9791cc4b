#include <ctime>

#include <fmt/format.h>

#include "cli/history_report.h"
#include "cli/text_table.h"

namespace fusefarm::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShortDigest = 12;

std::string text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

std::string short_digest(const json& value) { return text(value).substr(0, kShortDigest); }

std::string number(const json& value) { return std::to_string(value.get<std::int64_t>()); }

// "2026-11-30 18:50:44", UTC.
std::string time_of_day(const json& milliseconds) {
  const std::time_t seconds = milliseconds.get<std::int64_t>() / 1000;
  if (seconds == 0) {
    return "-";
  }
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// "1.083x [1.061, 1.105]"
std::string interval(const json& speedup) {
  if (speedup.is_null()) {
    return "-";
  }
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", speedup["estimate"].get<double>(),
                     speedup["lo"].get<double>(), speedup["hi"].get<double>());
}

std::string or_dash(const std::string& value) { return value.empty() ? "-" : value; }

// Only the first line, so that a compiler's complaint does not break the table.
std::string first_line(const json& value) { return text(value).substr(0, text(value).find('\n')); }

}  // namespace

std::string campaigns_table(const json& rows, bool wide) {
  std::vector<std::string> header{"ID",       "NAME",   "STATE",   "RESULT",
                                  "EXECUTED", "REUSED", "STARTED", "ENDED"};
  if (wide) {
    header.insert(header.end(), {"RUNS", "ABANDONED", "SPEC"});
  }
  TextTable table(header);
  for (const json& row : rows) {
    std::vector<std::string> cells{number(row["id"]),
                                   text(row["name"]),
                                   text(row["state"]),
                                   or_dash(text(row["result"])),
                                   number(row["experiments"]["executed"]),
                                   number(row["experiments"]["reused"]),
                                   time_of_day(row["started_ms"]),
                                   time_of_day(row["ended_ms"])};
    if (wide) {
      cells.insert(cells.end(), {number(row["runs"]), number(row["experiments"]["abandoned"]),
                                 short_digest(row["spec_hash"])});
    }
    table.add(cells);
  }
  return table.text();
}

std::string experiments_table(const json& rows, bool wide) {
  std::vector<std::string> header{"ID",     "CAMPAIGN", "PHASE",   "KIND",   "WORKLOAD",
                                  "REGION", "FAMILY",   "VERDICT", "SCREEN", "CONFIRMED"};
  if (wide) {
    header.insert(header.end(),
                  {"STATE", "CANDIDATE", "INCUMBENT", "LABEL", "STARTED", "SECONDS", "REASON"});
  }
  TextTable table(header);
  for (const json& row : rows) {
    const std::string verdict = text(row["verdict"]);
    std::vector<std::string> cells{number(row["id"]),
                                   number(row["campaign"]),
                                   number(row["phase"]),
                                   text(row["kind"]),
                                   text(row["workload"]),
                                   short_digest(row["region"]),
                                   or_dash(text(row["family"])),
                                   verdict.empty() ? "(" + text(row["state"]) + ")" : verdict,
                                   interval(row["screen"]),
                                   interval(row["confirmation"])};
    if (wide) {
      const std::int64_t ended = row["ended_ms"].get<std::int64_t>();
      const std::int64_t took = ended == 0 ? 0 : ended - row["started_ms"].get<std::int64_t>();
      cells.insert(cells.end(), {text(row["state"]), short_digest(row["candidate"]),
                                 short_digest(row["incumbent"]), or_dash(text(row["causal_label"])),
                                 time_of_day(row["started_ms"]),
                                 fmt::format("{:.1f}", static_cast<double>(took) / 1000),
                                 or_dash(text(row["reason"]) + " " + first_line(row["detail"]))});
    }
    table.add(cells);
  }
  return table.text();
}

std::string rewrites_table(const json& rows, bool wide) {
  std::vector<std::string> header{"ID",       "CAMPAIGN",  "PHASE", "REGION",
                                  "WORKLOAD", "CANDIDATE", "STATE", "CONTAINS"};
  if (wide) {
    header.insert(header.end(), {"EXPERIMENT", "FROM", "TO"});
  }
  TextTable table(header);
  for (const json& row : rows) {
    std::string contains;
    for (const json& node : row["contains"]) {
      contains += (contains.empty() ? "" : "+") + text(node);
    }
    std::vector<std::string> cells{number(row["id"]),     number(row["campaign"]),
                                   number(row["phase"]),  short_digest(row["region"]),
                                   text(row["workload"]), short_digest(row["candidate"]),
                                   text(row["state"]),    or_dash(contains)};
    if (wide) {
      cells.insert(cells.end(), {number(row["confirmation"]), short_digest(row["graph_from"]),
                                 short_digest(row["graph_to"])});
    }
    table.add(cells);
  }
  return table.text();
}

std::string fields_table(const json& object) {
  TextTable table({"FIELD", "VALUE"});
  for (const auto& [name, value] : object.items()) {
    const bool time = name.ends_with("_ms");
    table.add({name, or_dash(time ? time_of_day(value) : text(value))});
  }
  return table.text();
}

}  // namespace fusefarm::cli
