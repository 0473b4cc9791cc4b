#include "records/job_json.h"

#include "records/json_fields.h"

namespace fusefarm {
namespace internal {
namespace {

Json encode(const WorkloadProfile& profile) {
  Json nodes = Json::array();
  for (const NodeProfile& node : profile.nodes) {
    nodes.push_back(Json{{"node", node.node}, {"seconds", encode_real(node.seconds)}});
  }
  return Json{{"workload", profile.workload},
              {"step_seconds", encode_real(profile.step_seconds)},
              {"nodes", nodes}};
}

NodeProfile decode_node_profile(JsonObject& object) {
  return NodeProfile{object.small("node"), object.real("seconds")};
}

WorkloadProfile decode_workload_profile(JsonObject& object) {
  WorkloadProfile profile;
  profile.workload = object.text("workload");
  profile.step_seconds = object.real("step_seconds");
  profile.nodes = object.objects("nodes", 1 << 20, decode_node_profile);
  return profile;
}

Json encode(const GemmChoice& choice) {
  return Json{{"rows", choice.rows},
              {"n", choice.n},
              {"k", choice.k},
              {"dtype", graph::to_string(choice.dtype)},
              {"library", choice.library},
              {"seconds", encode_reals(choice.seconds)}};
}

GemmChoice decode_gemm_choice(JsonObject& object) {
  GemmChoice choice;
  choice.rows = object.integer("rows", 0);
  choice.n = object.integer("n", 0);
  choice.k = object.integer("k", 0);
  choice.dtype = object.dtype("dtype");
  choice.library = object.text("library");
  choice.seconds = object.reals_by_name("seconds");
  return choice;
}

Json encode(const ProfileResult& result) {
  Json workloads = Json::array();
  for (const WorkloadProfile& profile : result.workloads) {
    workloads.push_back(encode(profile));
  }
  Json gemms = Json::array();
  for (const GemmChoice& choice : result.gemms) {
    gemms.push_back(encode(choice));
  }
  return Json{{"version", kProfileResultVersion},
              {"workloads", workloads},
              {"gemms", gemms},
              {"copy_bytes_per_second", encode_real(result.copy_bytes_per_second)},
              {"flops_per_second", encode_real(result.flops_per_second)},
              {"device_class", result.device_class},
              {"toolchain", result.toolchain},
              {"isolation", result.isolation},
              {"blas_core", result.blas_core}};
}

ProfileResult decode_profile(JsonObject& object) {
  ProfileResult result;
  result.workloads = object.objects("workloads", 256, decode_workload_profile);
  result.gemms = object.objects("gemms", 1 << 16, decode_gemm_choice);
  result.copy_bytes_per_second = object.real("copy_bytes_per_second");
  result.flops_per_second = object.real("flops_per_second");
  result.device_class = object.text("device_class");
  result.toolchain = object.text("toolchain");
  result.isolation = object.text("isolation");
  result.blas_core = object.text("blas_core");
  return result;
}

Json encode(const WorkloadIntegration& workload) {
  return Json{{"workload", workload.workload},
              {"values_ok", workload.values_ok},
              {"error_before", encode_real(workload.error_before)},
              {"error_after", encode_real(workload.error_after)},
              {"tokens_compared", workload.tokens_compared},
              {"token_flips", workload.token_flips},
              {"flips_unexcused", workload.flips_unexcused},
              {"time", to_value(workload.time)},
              {"measurement", to_value(workload.measurement)},
              {"before_seconds", encode_real(workload.before_seconds)},
              {"after_seconds", encode_real(workload.after_seconds)}};
}

WorkloadIntegration decode_workload_integration(JsonObject& object) {
  WorkloadIntegration workload;
  workload.workload = object.text("workload");
  workload.values_ok = object.boolean("values_ok");
  workload.error_before = object.real("error_before");
  workload.error_after = object.real("error_after");
  workload.tokens_compared = object.integer("tokens_compared");
  workload.token_flips = object.integer("token_flips");
  workload.flips_unexcused = object.integer("flips_unexcused");
  workload.time = object.object("time", decode_interval);
  workload.measurement = object.object("measurement", decode_measurement);
  workload.before_seconds = object.real("before_seconds");
  workload.after_seconds = object.real("after_seconds");
  return workload;
}

Json encode(const IntegrationResult& result) {
  Json workloads = Json::array();
  for (const WorkloadIntegration& workload : result.workloads) {
    workloads.push_back(encode(workload));
  }
  return Json{{"version", kIntegrationResultVersion},  {"ok", result.ok},
              {"verdict", to_value(result.verdict)},   {"workloads", workloads},
              {"combined", to_value(result.combined)}, {"margin", encode_real(result.margin)}};
}

IntegrationResult decode_integration(JsonObject& object) {
  IntegrationResult result;
  result.ok = object.boolean("ok");
  result.verdict = object.object("verdict", decode_verdict);
  result.workloads = object.objects("workloads", 256, decode_workload_integration);
  result.combined = object.object("combined", decode_interval);
  result.margin = object.real("margin");
  return result;
}

}  // namespace
}  // namespace internal

std::string to_json(const ProfileResult& result) {
  return internal::dump(internal::encode(result));
}

Result<ProfileResult> profile_result_from_json(std::string_view text) {
  return internal::decode_document(text, "profile result", kProfileResultVersion,
                                   internal::decode_profile);
}

std::string to_json(const IntegrationResult& result) {
  return internal::dump(internal::encode(result));
}

Result<IntegrationResult> integration_result_from_json(std::string_view text) {
  return internal::decode_document(text, "integration result", kIntegrationResultVersion,
                                   internal::decode_integration);
}

}  // namespace fusefarm
