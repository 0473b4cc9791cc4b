// Ids that don't mix: an experiment id is not a lease id.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace fusefarm {

template <class Tag>
struct Id {
  std::uint64_t value = 0;  // 0: none
  friend auto operator<=>(Id, Id) = default;

  explicit operator bool() const { return value != 0; }
};

using CampaignId = Id<struct CampaignTag>;
using RegionId = Id<struct RegionTag>;
using CandidateId = Id<struct CandidateTag>;
using ExperimentId = Id<struct ExperimentTag>;
using HypothesisId = Id<struct HypothesisTag>;
using RewriteId = Id<struct RewriteTag>;
using LeaseId = Id<struct LeaseTag>;

}  // namespace fusefarm

template <class Tag>
struct std::hash<fusefarm::Id<Tag>> {
  std::size_t operator()(fusefarm::Id<Tag> id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value);
  }
};
