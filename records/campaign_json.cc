#include "records/campaign_json.h"

#include "records/json_fields.h"

namespace fusefarm {
namespace internal {
namespace {

const std::vector<std::string>& phases() {  // by graph::Phase
  static const std::vector<std::string> names{to_string(graph::Phase::kDecode),
                                              to_string(graph::Phase::kPrefill),
                                              to_string(graph::Phase::kBlockDiffusion)};
  return names;
}

Json encode(const SearchSpec& search) {
  return Json{{"phases", search.phases},
              {"proposers", search.proposers},
              {"seed", search.seed},
              {"budget_seconds", encode_real(search.budget_seconds)},
              {"rounds_max", search.rounds_max},
              {"plans_per_round", search.plans_per_round},
              {"region_nodes_max", search.region_nodes_max},
              {"regions_per_phase", search.regions_per_phase}};
}

SearchSpec decode_search(JsonObject& object) {
  SearchSpec search;
  search.phases = object.small("phases");
  search.proposers = object.texts("proposers", 64);
  search.seed = object.unsigned_integer("seed");
  search.budget_seconds = object.real("budget_seconds");
  search.rounds_max = object.small("rounds_max");
  search.plans_per_round = object.small("plans_per_round");
  search.region_nodes_max = object.small("region_nodes_max");
  search.regions_per_phase = object.small("regions_per_phase");
  return search;
}

GateSpec decode_gate(JsonObject& object) {
  return GateSpec{object.real("min_gain"), object.real("false_accept")};
}

Json encode(const CampaignSpec& spec) {
  Json workloads = Json::array();
  for (const Workload& workload : spec.workloads) {
    workloads.push_back(to_value(workload));
  }
  return Json{{"version", kCampaignSpecVersion},
              {"name", spec.name},
              {"model_config", spec.model_config},
              {"layers", spec.layers},
              {"workloads", workloads},
              {"tensor_parallel", spec.tensor_parallel},
              {"dtype", graph::to_string(spec.dtype)},
              {"device", spec.device},
              {"threads", spec.threads},
              {"search", encode(spec.search)},
              {"gate",
               {{"min_gain", encode_real(spec.gate.min_gain)},
                {"false_accept", encode_real(spec.gate.false_accept)}}},
              {"store_path", spec.store_path},
              {"output_folder", spec.output_folder},
              {"sandbox_degraded_ok", spec.sandbox_degraded_ok}};
}

CampaignSpec decode_spec(JsonObject& object) {
  CampaignSpec spec;
  spec.name = object.text("name");
  spec.model_config = object.text("model_config");
  spec.layers = object.integer("layers", 0);
  spec.workloads = object.objects("workloads", 256, decode_workload);
  spec.tensor_parallel = object.integer("tensor_parallel", 1);
  spec.dtype = object.dtype("dtype");
  spec.device = object.text("device", 64);
  spec.threads = object.small("threads");
  spec.search = object.object("search", decode_search);
  spec.gate = object.object("gate", decode_gate);
  spec.store_path = object.text("store_path");
  spec.output_folder = object.text("output_folder");
  spec.sandbox_degraded_ok = object.boolean("sandbox_degraded_ok");
  return spec;
}

}  // namespace

Json to_value(const Workload& workload) {
  return Json{{"name", workload.name},     {"phase", to_string(workload.phase)},
              {"batch", workload.batch},   {"context", workload.context},
              {"tokens", workload.tokens}, {"weight", encode_real(workload.weight)}};
}

Workload decode_workload(JsonObject& object) {
  Workload workload;
  workload.name = object.text("name");
  workload.phase = static_cast<graph::Phase>(object.one_of("phase", phases()));
  workload.batch = object.integer("batch", 0);
  workload.context = object.integer("context", 0);
  workload.tokens = object.integer("tokens", 0);
  workload.weight = object.real("weight");
  return workload;
}

}  // namespace internal

std::string to_json(const Workload& workload) {
  return internal::dump(internal::to_value(workload));
}

Result<Workload> workload_from_json(std::string_view text) {
  return internal::decode_part(text, "workload", internal::decode_workload);
}

std::string to_json(const CampaignSpec& spec) { return internal::dump(internal::encode(spec)); }

Result<CampaignSpec> campaign_spec_from_json(std::string_view text) {
  return internal::decode_document(text, "campaign", kCampaignSpecVersion, internal::decode_spec);
}

}  // namespace fusefarm
