#include "store/rows.h"

#include <array>
#include <span>
#include <utility>

#include "graph/graph_io.h"

namespace fusefarm::store {
namespace {

template <class T>
using Name = std::pair<T, const char*>;

constexpr std::array<Name<CampaignState>, 4> kCampaignStates{
    {{CampaignState::kRunning, "running"},
     {CampaignState::kInterrupted, "interrupted"},
     {CampaignState::kFinished, "finished"},
     {CampaignState::kFailed, "failed"}}};
constexpr std::array<Name<ExperimentKind>, 5> kExperimentKinds{
    {{ExperimentKind::kProfile, "profile"},
     {ExperimentKind::kScreen, "screen"},
     {ExperimentKind::kConfirm, "confirm"},
     {ExperimentKind::kIntegration, "integration"},
     {ExperimentKind::kEndToEnd, "end_to_end"}}};
constexpr std::array<Name<ExperimentState>, 4> kExperimentStates{
    {{ExperimentState::kStarted, "started"},
     {ExperimentState::kDone, "done"},
     {ExperimentState::kReused, "reused"},
     {ExperimentState::kAbandoned, "abandoned"}}};
constexpr std::array<Name<RewriteState>, 3> kRewriteStates{
    {{RewriteState::kProposed, "proposed"},
     {RewriteState::kCommitted, "committed"},
     {RewriteState::kRolledBack, "rolled_back"}}};

template <class T>
const char* name_of(std::span<const Name<T>> names, T value) {
  for (const auto& [known, name] : names) {
    if (known == value) {
      return name;
    }
  }
  return "unknown";
}

template <class T>
std::optional<T> value_of(std::span<const Name<T>> names, std::string_view name) {
  for (const auto& [value, known] : names) {
    if (name == known) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(CampaignState state) {
  return name_of<CampaignState>(kCampaignStates, state);
}

const char* to_string(ExperimentKind kind) {
  return name_of<ExperimentKind>(kExperimentKinds, kind);
}

const char* to_string(ExperimentState state) {
  return name_of<ExperimentState>(kExperimentStates, state);
}

const char* to_string(RewriteState state) { return name_of<RewriteState>(kRewriteStates, state); }

std::optional<CampaignState> campaign_state_from(std::string_view name) {
  return value_of<CampaignState>(kCampaignStates, name);
}

std::optional<ExperimentKind> experiment_kind_from(std::string_view name) {
  return value_of<ExperimentKind>(kExperimentKinds, name);
}

std::optional<ExperimentState> experiment_state_from(std::string_view name) {
  return value_of<ExperimentState>(kExperimentStates, name);
}

std::optional<RewriteState> rewrite_state_from(std::string_view name) {
  return value_of<RewriteState>(kRewriteStates, name);
}

Digest graph_hash(const graph::Graph& graph) { return digest_of(graph::to_json(graph)); }

}  // namespace fusefarm::store
