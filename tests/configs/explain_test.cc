#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "configs/campaign_file.h"

namespace fusefarm::configs {
namespace {

// The keys of the explanation: the first word of the lines that have a default.
std::set<std::string> explained_keys() {
  std::set<std::string> keys;
  std::istringstream lines(explain_config());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("default: ") != std::string::npos) {
      keys.insert(line.substr(0, line.find(' ')));
    }
  }
  return keys;
}

// "known here: a, b" of the error that an unknown key in `map` gives.
std::set<std::string> known_keys(const std::string& text, const std::string& prefix) {
  const Result<CampaignSpec> spec = parse_campaign(text, "c.yaml");
  EXPECT_FALSE(spec.ok());
  const std::string& message = spec.error().message;
  const std::size_t at = message.find("known here: ");
  EXPECT_NE(at, std::string::npos) << message;
  std::set<std::string> keys;
  for (const std::string& key : split(message.substr(at + 12), ',')) {
    keys.insert(prefix + (key.starts_with(' ') ? key.substr(1) : key));
  }
  return keys;
}

TEST(ExplainTest, EveryKeyThatIsTakenIsExplainedAndNoOther) {
  const std::string workload = "{name: d, phase: decode, batch: 1, context: 1";
  const auto file = [&](const std::string& rest, const std::string& in_workload = "") {
    return "campaign: c\nmodel: {config: m}\nworkloads: [" + workload + in_workload + "}]\n" + rest;
  };
  std::set<std::string> taken;
  taken.merge(known_keys(file("zzzzzzzz: 1\n"), ""));
  for (const char* map : {"parallel", "target", "search", "gate", "store", "output"}) {
    const std::string name = map;
    taken.erase(name);
    taken.merge(known_keys(file(name + ": {zzzzzzzz: 1}\n"), name + "."));
  }
  taken.merge(known_keys(
      "campaign: c\nmodel: {config: m, zzzzzzzz: 1}\nworkloads: [" + workload + "}]\n", "model."));
  taken.merge(known_keys(file("", ", zzzzzzzz: 1"), "workloads[]."));
  taken.merge(known_keys(file("search: {budget: {zzzzzzzz: 1}}\n"), "search.budget."));
  // Maps themselves, and what is known only to be refused.
  for (const char* key : {"model", "workloads", "search.budget", "model.onnx", "target.class",
                          "search.budget.device_hours", "search.budget.llm_usd"}) {
    EXPECT_EQ(taken.erase(key), 1U) << key;
  }
  EXPECT_EQ(taken, explained_keys());
}

}  // namespace
}  // namespace fusefarm::configs
