#include "records/outcome_json.h"

#include "records/json_fields.h"

namespace fusefarm {
namespace internal {
namespace {

Json encode(const BoundaryError& error) {
  return Json{{"tensor", error.tensor},
              {"worst_over_bound", encode_real(error.worst_over_bound)},
              {"relative_norm", encode_real(error.relative_norm)},
              {"relative_norm_limit", encode_real(error.relative_norm_limit)},
              {"worst_index", error.worst_index},
              {"failures", error.failures}};
}

BoundaryError decode_boundary_error(JsonObject& object) {
  BoundaryError error;
  error.tensor = object.text("tensor");
  error.worst_over_bound = object.real("worst_over_bound");
  error.relative_norm = object.real("relative_norm");
  error.relative_norm_limit = object.real("relative_norm_limit");
  error.worst_index = object.integer("worst_index");
  error.failures = object.integer("failures", 0);
  return error;
}

Json encode(const CorrectnessRecord& record) {
  Json outputs = Json::array();
  for (const BoundaryError& error : record.outputs) {
    outputs.push_back(encode(error));
  }
  return Json{{"ok", record.ok},           {"distribution", record.distribution},
              {"seed", record.seed},       {"outputs", outputs},
              {"failure", record.failure}, {"detail", record.detail}};
}

CorrectnessRecord decode_correctness(JsonObject& object) {
  CorrectnessRecord record;
  record.ok = object.boolean("ok");
  record.distribution = object.text("distribution");
  record.seed = object.unsigned_integer("seed");
  record.outputs = object.objects("outputs", 1 << 12, decode_boundary_error);
  record.failure = object.text("failure");
  record.detail = object.text("detail");
  return record;
}

Json encode(const std::optional<Interval>& interval) {
  return interval ? to_value(*interval) : Json();
}

Json encode(const Outcome& outcome) {
  Json correctness = Json::array();
  for (const CorrectnessRecord& record : outcome.correctness) {
    correctness.push_back(encode(record));
  }
  Json measurements = Json::array();
  for (const PairedMeasurement& measurement : outcome.measurements) {
    measurements.push_back(to_value(measurement));
  }
  return Json{{"version", kOutcomeVersion},
              {"experiment", outcome.experiment.value},
              {"region", outcome.region.hex()},
              {"workload", outcome.workload},
              {"candidate", outcome.candidate.hex()},
              {"incumbent", outcome.incumbent.hex()},
              {"family", outcome.family},
              {"verdict", to_value(outcome.verdict)},
              {"causal_label", outcome.causal_label},
              {"correctness", correctness},
              {"measurements", measurements},
              {"screen", encode(outcome.screen)},
              {"confirmation", encode(outcome.confirmation)},
              {"compile_seconds", encode_real(outcome.compile_seconds)},
              {"device_seconds", encode_real(outcome.device_seconds)},
              {"prepare_seconds", encode_real(outcome.prepare_seconds)},
              {"prepared_bytes", outcome.prepared_bytes},
              {"device_class", outcome.device_class},
              {"toolchain", outcome.toolchain},
              {"isolation", outcome.isolation}};
}

Outcome decode_outcome(JsonObject& object) {
  Outcome outcome;
  outcome.experiment = ExperimentId{object.unsigned_integer("experiment")};
  outcome.region = object.digest("region");
  outcome.workload = object.text("workload");
  outcome.candidate = object.digest("candidate");
  outcome.incumbent = object.digest("incumbent");
  outcome.family = object.text("family");
  outcome.verdict = object.object("verdict", decode_verdict);
  outcome.causal_label = object.text("causal_label");
  outcome.correctness = object.objects("correctness", 1 << 12, decode_correctness);
  outcome.measurements = object.objects("measurements", 64, decode_measurement);
  outcome.screen = object.optional_object("screen", decode_interval);
  outcome.confirmation = object.optional_object("confirmation", decode_interval);
  outcome.compile_seconds = object.real("compile_seconds");
  outcome.device_seconds = object.real("device_seconds");
  outcome.prepare_seconds = object.real("prepare_seconds");
  outcome.prepared_bytes = object.integer("prepared_bytes");
  outcome.device_class = object.text("device_class");
  outcome.toolchain = object.text("toolchain");
  outcome.isolation = object.text("isolation");
  return outcome;
}

}  // namespace

Json to_value(const Verdict& verdict) {
  return Json{{"class", to_string(verdict.klass)},
              {"reason", verdict.reason},
              {"detail", verdict.detail},
              {"rule_version", verdict.rule_version}};
}

Verdict decode_verdict(JsonObject& object) {
  Verdict verdict;
  const std::string name = object.text("class", 64);
  if (const std::optional<VerdictClass> klass = verdict_class_from(name)) {
    verdict.klass = *klass;
  } else {
    object.report("'" + name + "' is no verdict class");
  }
  verdict.reason = object.text("reason");
  verdict.detail = object.text("detail");
  verdict.rule_version = object.small("rule_version");
  return verdict;
}

}  // namespace internal

std::string to_json(const Verdict& verdict) { return internal::dump(internal::to_value(verdict)); }

Result<Verdict> verdict_from_json(std::string_view text) {
  return internal::decode_part(text, "verdict", internal::decode_verdict);
}

std::string to_json(const Outcome& outcome) { return internal::dump(internal::encode(outcome)); }

Result<Outcome> outcome_from_json(std::string_view text) {
  return internal::decode_document(text, "outcome", kOutcomeVersion, internal::decode_outcome);
}

}  // namespace fusefarm
