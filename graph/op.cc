#include "graph/op.h"

#include <array>
#include <utility>

namespace fusefarm::graph {
namespace {

constexpr std::array<std::pair<OpKind, const char*>, 18> kNames{{
    {OpKind::kEmbedding, "embedding"},
    {OpKind::kRmsNorm, "rms_norm"},
    {OpKind::kAdd, "add"},
    {OpKind::kLinear, "linear"},
    {OpKind::kSplit, "split"},
    {OpKind::kRope, "rope"},
    {OpKind::kKvWrite, "kv_write"},
    {OpKind::kAttention, "attention"},
    {OpKind::kSiluMul, "silu_mul"},
    {OpKind::kRouterSelect, "router_select"},
    {OpKind::kExpertLinear, "expert_linear"},
    {OpKind::kMoeFinalize, "moe_finalize"},
    {OpKind::kCast, "cast"},
    {OpKind::kSelectRows, "select_rows"},
    {OpKind::kArgmax, "argmax"},
    {OpKind::kAllReduce, "all_reduce"},
    {OpKind::kAllGather, "all_gather"},
    {OpKind::kRegion, "region"},
}};

}  // namespace

const char* to_string(OpKind op) {
  for (const auto& [kind, name] : kNames) {
    if (kind == op) {
      return name;
    }
  }
  return "?";
}

std::optional<OpKind> op_from(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (name == known) {
      return kind;
    }
  }
  return std::nullopt;
}

bool is_collective(OpKind op) { return op == OpKind::kAllReduce || op == OpKind::kAllGather; }

bool is_view(OpKind op) { return op == OpKind::kSplit; }

}  // namespace fusefarm::graph
