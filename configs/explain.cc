#include <array>

#include <fmt/format.h>

#include "configs/campaign_file.h"

namespace fusefarm::configs {
namespace {

struct KeyHelp {
  const char* key;
  const char* type;
  const char* otherwise;  // default
  const char* meaning;
};

// A test holds this list to the keys that parse_campaign() takes and to its defaults.
constexpr std::array kKeys{
    KeyHelp{"campaign", "name", "required", "name of the campaign in history and reports"},
    KeyHelp{"model.config", "path", "required",
            "the model's Hugging Face config.json, relative to the campaign file"},
    KeyHelp{"model.layers", "integer", "0", "only the first n decoder layers; 0: all"},
    KeyHelp{"workloads[].name", "name", "required", "unique name of the workload"},
    KeyHelp{"workloads[].phase", "choice", "required", "decode, prefill or block-diffusion"},
    KeyHelp{"workloads[].batch", "integer", "1 (prefill only)",
            "sequences in a step; required for decode and block-diffusion"},
    KeyHelp{"workloads[].context", "integer", "tokens / batch (prefill only)",
            "KV slots of a sequence, the step's own tokens included; required otherwise"},
    KeyHelp{"workloads[].tokens", "integer", "batch, or 32 * batch (block-diffusion)",
            "tokens of the step over all sequences; required for prefill"},
    KeyHelp{"workloads[].weight", "number", "1",
            "share of serving time; the weights are scaled to sum to 1"},
    KeyHelp{"parallel.tensor", "integer", "1", "ranks of tensor parallelism; only 1 for now"},
    KeyHelp{"dtype", "choice", "bf16", "of weights and activations: bf16 or f32"},
    KeyHelp{"target.device", "choice", "cpu", "where to run; only cpu for now"},
    KeyHelp{"target.threads", "integer", "0", "threads of an executor; 0: all cores it may use"},
    KeyHelp{"search.phases", "integer", "2", "rounds over a frozen graph version, at most"},
    KeyHelp{"search.proposers", "list", "[builtin]",
            "sources of candidates: builtin; noop proposes the incumbent itself (a check of the "
            "gate)"},
    KeyHelp{"search.seed", "integer", "1", "of every random choice"},
    KeyHelp{"search.budget.seconds", "number", "0",
            "stop searching after this time and report; 0: no bound"},
    KeyHelp{"search.rounds", "integer", "2", "search rounds inside a region, at most"},
    KeyHelp{"search.plans_per_round", "integer", "8", "candidates tried in a round, at most"},
    KeyHelp{"search.region_nodes", "integer", "5",
            "nodes of a region in phase 1, at most; two more each phase"},
    KeyHelp{"search.regions_per_phase", "integer", "8", "regions searched in a phase, at most"},
    KeyHelp{"gate.min_gain", "number", "0.01", "log speed-up that is worth a rewrite"},
    KeyHelp{"gate.false_accept", "number", "0.001", "declared error rate of a confirmation"},
    KeyHelp{"store.path", "path", "history.db",
            "the history database, relative to the current folder"},
    KeyHelp{"output.folder", "path", "out/<campaign>",
            "where report.json goes, relative to the current folder"},
    KeyHelp{"sandbox", "choice", "full",
            "full: refuse to run without every layer of isolation; degraded-ok: run and record it"},
};

}  // namespace

std::string explain_config() {
  std::string out =
      "A campaign file is one YAML map. Unknown and duplicate keys are errors; numbers are "
      "decimal\n"
      "as in JSON, without quotes. `a.b` is key b of the map a; `a[].b` of each map in the list "
      "a.\n\n";
  for (const KeyHelp& key : kKeys) {
    out += fmt::format("{:<26} {:<8} default: {}\n{:26} {}\n", key.key, key.type, key.otherwise, "",
                       key.meaning);
  }
  return out;
}

}  // namespace fusefarm::configs
