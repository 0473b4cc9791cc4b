#include "configs/campaign_file.h"

#include <filesystem>
#include <set>

#include "base/files.h"
#include "configs/yaml_reader.h"

namespace fusefarm::configs {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr std::size_t kWorkloadsMax = 32;
constexpr std::int64_t kBatchMax = 4096;
constexpr std::int64_t kContextMax = 1 << 20;
constexpr std::int64_t kTokensMax = 1 << 17;
constexpr std::int64_t kSlotsMax = 1 << 24;  // KV slots of a workload: batch * context
constexpr std::int64_t kBlockTokens = 32;    // tokens of a sequence in a block-diffusion step

const std::string& not_here() {
  static const std::string why = "this program searches on the CPU of one machine";
  return why;
}

void read_decode(YamlMap& map, Workload& workload) {
  workload.batch = map.integer("batch", {1, kBatchMax});
  workload.context = map.integer("context", {1, kContextMax});
  workload.tokens = workload.batch;
  if (map.integer("tokens", {1, kTokensMax}, workload.batch) != workload.batch) {
    map.report("tokens", "a decode step has one token a sequence; leave the key out");
  }
}

void read_prefill(YamlMap& map, Workload& workload) {
  workload.tokens = map.integer("tokens", {1, kTokensMax});
  workload.batch = map.integer("batch", {1, kBatchMax}, 1);
  if (workload.tokens % workload.batch != 0) {
    map.report("tokens", std::to_string(workload.tokens) + " tokens are not a multiple of batch " +
                             std::to_string(workload.batch));
  }
  const std::int64_t own = workload.tokens / workload.batch;
  workload.context = map.integer("context", {1, kContextMax}, own);
  if (workload.context < own) {
    map.report("context", std::to_string(workload.context) + " slots don't hold the step's own " +
                              std::to_string(own) + " tokens of a sequence");
  }
}

void read_block_diffusion(YamlMap& map, Workload& workload) {
  workload.batch = map.integer("batch", {1, kBatchMax});
  workload.tokens = kBlockTokens * workload.batch;
  workload.context = map.integer("context", {kBlockTokens, kContextMax});
  if (map.integer("tokens", {1, kTokensMax}, workload.tokens) != workload.tokens) {
    map.report("tokens", "a block-diffusion step has " + std::to_string(kBlockTokens) +
                             " tokens a sequence; leave the key out");
  }
}

Workload read_workload(YamlMap& map) {
  Workload workload;
  workload.name = map.name("name");
  const std::string phase = map.one_of("phase", {"decode", "prefill", "block-diffusion"});
  if (map.problem().found()) {
    return workload;
  }
  if (phase == "prefill") {
    workload.phase = graph::Phase::kPrefill;
    read_prefill(map, workload);
  } else if (phase == "block-diffusion") {
    workload.phase = graph::Phase::kBlockDiffusion;
    read_block_diffusion(map, workload);
  } else {
    read_decode(map, workload);
  }
  if (workload.batch * workload.context > kSlotsMax) {
    map.report("context", "batch * context = " + std::to_string(workload.batch * workload.context) +
                              " KV slots are more than " + std::to_string(kSlotsMax));
  }
  workload.weight = map.real("weight", {0, 1e6, false}, 1);
  map.close();
  return workload;
}

// Serving engines run one kind of step graph; a mix of both kinds is two campaigns.
bool mixes_graphs(const std::vector<Workload>& workloads) {
  std::size_t diffusion = 0;
  for (const Workload& workload : workloads) {
    diffusion += workload.phase == graph::Phase::kBlockDiffusion ? 1 : 0;
  }
  return diffusion != 0 && diffusion != workloads.size();
}

std::vector<Workload> read_workloads(YamlMap& root) {
  std::vector<Workload> workloads;
  std::set<std::string> names;
  double sum = 0;
  for (YamlMap& map : root.maps("workloads", kWorkloadsMax)) {
    if (root.problem().found()) {
      break;
    }
    workloads.push_back(read_workload(map));
    sum += workloads.back().weight;
    if (!names.insert(workloads.back().name).second) {
      map.report("name", "'" + workloads.back().name + "' names two workloads");
    }
  }
  if (mixes_graphs(workloads)) {
    root.report("workloads", "block-diffusion does not go together with decode or prefill");
  }
  for (Workload& workload : workloads) {
    workload.weight /= sum;
  }
  return workloads;
}

void read_model(YamlMap& root, const std::string& source, CampaignSpec& spec) {
  YamlMap model = root.map("model", true);
  model.unsupported("onnx", "models come from a Hugging Face config.json (model.config)");
  const std::filesystem::path config = model.text("config");
  const std::filesystem::path folder = std::filesystem::path(source).parent_path();
  spec.model_config = (folder / config).lexically_normal().string();
  spec.layers = model.integer("layers", {0, 4096}, 0);
  model.close();
}

void read_search(YamlMap& root, SearchSpec& search) {
  YamlMap map = root.map("search");
  search.phases = static_cast<int>(map.integer("phases", {1, 16}, search.phases));
  search.proposers =
      map.some_of("proposers", {"builtin", "noop"}, search.proposers,
                  {{"llm", "proposals by language models"}, {"replay", "replay of older winners"}});
  search.seed =
      static_cast<std::uint64_t>(map.integer("seed", {0, std::numeric_limits<std::int64_t>::max()},
                                             static_cast<std::int64_t>(search.seed)));
  search.rounds_max = static_cast<int>(map.integer("rounds", {1, 64}, search.rounds_max));
  search.plans_per_round =
      static_cast<int>(map.integer("plans_per_round", {1, 1024}, search.plans_per_round));
  search.region_nodes_max =
      static_cast<int>(map.integer("region_nodes", {2, 32}, search.region_nodes_max));
  search.regions_per_phase =
      static_cast<int>(map.integer("regions_per_phase", {1, 1024}, search.regions_per_phase));
  YamlMap budget = map.map("budget");
  search.budget_seconds = budget.real("seconds", {0, 1e8}, search.budget_seconds);
  budget.unsupported("device_hours", not_here() + "; use budget.seconds");
  budget.unsupported("llm_usd", "there are no language models here");
  budget.close();
  map.close();
}

void read_target(YamlMap& root, CampaignSpec& spec) {
  YamlMap target = root.map("target");
  spec.device = target.one_of("device", {"cpu"}, spec.device, {{"cuda", not_here()}});
  target.unsupported("class", "it chooses among GPUs, and " + not_here());
  spec.threads = static_cast<int>(target.integer("threads", {0, 1024}, 0));
  target.close();
  YamlMap parallel = root.map("parallel");
  spec.tensor_parallel = parallel.integer("tensor", {1, 1024}, 1);
  if (spec.tensor_parallel != 1) {
    parallel.report("tensor",
                    std::to_string(spec.tensor_parallel) +
                        " ranks are not supported: " + not_here() +
                        "; supported: 1 (`fusefarm graph import --tensor` shows a sharded graph)",
                    ErrorCode::kUnsupported);
  }
  parallel.close();
}

CampaignSpec read_campaign(YamlMap& root, const std::string& source) {
  CampaignSpec spec;
  spec.name = root.name("campaign");
  read_model(root, source, spec);
  spec.workloads = read_workloads(root);
  read_target(root, spec);
  const std::string dtype = root.one_of("dtype", {"bf16", "f32"}, "bf16");
  spec.dtype = dtype == "f32" ? graph::DType::kF32 : graph::DType::kBF16;
  read_search(root, spec.search);
  YamlMap gate = root.map("gate");
  spec.gate.min_gain = gate.real("min_gain", {0, 1, false}, spec.gate.min_gain);
  spec.gate.false_accept = gate.real("false_accept", {0, 0.1, false}, spec.gate.false_accept);
  gate.close();
  YamlMap store = root.map("store");
  spec.store_path = store.text("path", "history.db");
  store.close();
  YamlMap output = root.map("output");
  spec.output_folder = output.text("folder", "out/" + spec.name);
  output.close();
  spec.sandbox_degraded_ok = root.one_of("sandbox", {"full", "degraded-ok"}, "full") != "full";
  root.close();
  return spec;
}

}  // namespace

Result<CampaignSpec> parse_campaign(std::string_view text, const std::string& source) {
  const YAML::Node document = TRY(parse_yaml(text, source));
  Problem problem(source);
  YamlMap root(problem, document, "", YAML::Mark::null_mark());
  CampaignSpec spec = read_campaign(root, source);
  if (problem.found()) {
    return problem.error();
  }
  return spec;
}

Result<CampaignSpec> load_campaign(const std::string& path) {
  Result<std::string> text = read_file(path, kFileBytesMax);
  if (!text.ok()) {
    return text.error().with_context("campaign file");
  }
  CampaignSpec spec = TRY(parse_campaign(*text, path));
  const Result<std::string> config = read_file(spec.model_config);
  if (!config.ok()) {
    return config.error().with_context(path + ": model.config (relative to this file)");
  }
  return spec;
}

}  // namespace fusefarm::configs
