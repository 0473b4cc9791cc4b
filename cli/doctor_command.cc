#include "cli/doctor_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/doctor_checks.h"
#include "cli/exit_code.h"
#include "cli/text_table.h"

namespace fusefarm::cli {
namespace {

std::string table_of(const std::vector<Check>& checks) {
  TextTable table({"CHECK", "STATE", "DETAIL"});
  for (const Check& check : checks) {
    table.add({check.name, to_string(check.state), check.detail});
    if (!check.remedy.empty()) {
      table.add({"", "", "-> " + check.remedy});
    }
  }
  return table.text();
}

nlohmann::json json_of(const std::vector<Check>& checks, bool ok) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Check& check : checks) {
    rows.push_back({{"name", check.name},
                    {"state", to_string(check.state)},
                    {"detail", check.detail},
                    {"remedy", check.remedy}});
  }
  return {{"ok", ok}, {"checks", rows}};
}

int examine(const std::string& output) {
  const std::vector<Check> checks = assess(gather_facts());
  const bool ok = std::ranges::none_of(
      checks, [](const Check& check) { return check.state == CheckState::kFail; });
  if (output == "json") {
    std::cout << json_of(checks, ok).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  } else {
    std::cout << table_of(checks)
              << (ok ? "fusefarm run can work here\n" : "fusefarm run can not work here\n");
  }
  return ok ? kExitDone : kExitInternal;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  auto output = std::make_shared<std::string>("table");  // outlives this function in the callback
  CLI::App* doctor = app.add_subcommand("doctor", "Say whether this host can run campaigns");
  doctor->add_option("-o,--output", *output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  doctor->callback([output, &exit_code] { exit_code = examine(*output); });
}

}  // namespace fusefarm::cli
