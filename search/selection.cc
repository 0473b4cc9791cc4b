#include "search/selection.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"

namespace fusefarm::search {
namespace {

constexpr int kSweepsMax = 8;

// The conflict graph, and which of its vertices are chosen.
class Packing {
 public:
  explicit Packing(const std::vector<Selectable>& regions)
      : regions_(regions), conflicts_(regions.size()), chosen_(regions.size(), false) {
    std::map<graph::NodeId, std::vector<std::size_t>> users;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      for (const graph::NodeId node : regions[i].nodes) {
        users[node].push_back(i);
      }
    }
    for (const auto& [node, list] : users) {
      for (const std::size_t a : list) {
        for (const std::size_t b : list) {
          if (a != b) {
            conflicts_[a].push_back(b);
          }
        }
      }
    }
    for (std::vector<std::size_t>& list : conflicts_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    order_.resize(regions.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return regions[a].value > regions[b].value;
    });
  }

  void fill() {
    for (const std::size_t i : order_) {
      if (free(i)) {
        chosen_[i] = true;
      }
    }
  }

  // Takes `i` in place of what it conflicts with when that, refilled, is worth more.
  bool swap_in(std::size_t i) {
    if (chosen_[i] || regions_[i].value <= 0) {
      return false;
    }
    const double before = total();
    const std::vector<bool> kept = chosen_;
    for (const std::size_t other : conflicts_[i]) {
      chosen_[other] = false;
    }
    chosen_[i] = true;
    fill();
    if (total() > before * (1 + 1e-12)) {
      return true;
    }
    chosen_ = kept;
    return false;
  }

  // Drops a chosen one for two or more of its rivals when those are worth more.
  bool swap_out(std::size_t i) {
    if (!chosen_[i]) {
      return false;
    }
    const double before = total();
    const std::vector<bool> kept = chosen_;
    chosen_[i] = false;
    for (const std::size_t rival : order_) {
      if (rival != i && free(rival)) {
        chosen_[rival] = true;
      }
    }
    fill();
    if (total() > before * (1 + 1e-12)) {
      return true;
    }
    chosen_ = kept;
    return false;
  }

  const std::vector<std::size_t>& order() const { return order_; }

  bool chosen(std::size_t i) const { return chosen_[i]; }

 private:
  bool free(std::size_t i) const {
    if (chosen_[i] || regions_[i].value <= 0) {
      return false;
    }
    return std::none_of(conflicts_[i].begin(), conflicts_[i].end(),
                        [&](std::size_t other) { return chosen_[other]; });
  }

  double total() const {
    double sum = 0;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (chosen_[i]) {
        sum += regions_[i].value;
      }
    }
    return sum;
  }

  const std::vector<Selectable>& regions_;
  std::vector<std::vector<std::size_t>> conflicts_;
  std::vector<bool> chosen_;
  std::vector<std::size_t> order_;  // by falling value
};

}  // namespace

std::vector<std::size_t> heavy_disjoint_set(const std::vector<Selectable>& regions) {
  Packing packing(regions);
  packing.fill();
  for (int sweep = 0; sweep < kSweepsMax; ++sweep) {
    bool changed = false;
    for (const std::size_t i : packing.order()) {
      changed = packing.swap_in(i) || packing.swap_out(i) || changed;
    }
    if (!changed) {
      break;
    }
  }
  std::vector<std::size_t> result;
  for (const std::size_t i : packing.order()) {
    if (packing.chosen(i)) {
      result.push_back(i);
    }
  }
  return result;
}

std::vector<Selected> select_regions(const std::vector<Selectable>& regions,
                                     const SelectionOptions& options) {
  const std::vector<std::size_t> heavy = heavy_disjoint_set(regions);
  const auto explore = static_cast<std::size_t>(
      std::lround(options.explore * static_cast<double>(options.count_max)));
  const std::size_t ranked = options.count_max - std::min(explore, options.count_max);
  std::vector<Selected> result;
  std::vector<bool> taken(regions.size(), false);
  for (const std::size_t i : heavy) {
    if (result.size() >= ranked) {
      break;
    }
    result.push_back({i, false});
    taken[i] = true;
  }
  // Exploration: weighted draws without replacement from all that has any value.
  for (std::size_t slot = 0; result.size() < options.count_max; ++slot) {
    double total = 0;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (!taken[i]) {
        total += std::sqrt(std::max(0.0, regions[i].value));
      }
    }
    if (total <= 0 || slot >= explore) {
      break;
    }
    Random random = Random::keyed(options.seed, "explore-region",
                                  static_cast<std::uint64_t>(options.phase), slot);
    double at = random.uniform() * total;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (taken[i] || regions[i].value <= 0) {
        continue;
      }
      at -= std::sqrt(regions[i].value);
      if (at > 0) {
        continue;
      }
      result.push_back({i, true});
      taken[i] = true;
      break;
    }
  }
  return result;
}

}  // namespace fusefarm::search
