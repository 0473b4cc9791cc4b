// The built-in proposer's candidates are honest: the static check must let all of them through.
#include <gtest/gtest.h>

#include "base/random.h"
#include "codegen/cpu_generator.h"
#include "codegen/pattern.h"
#include "codegen/schedule.h"
#include "graph/region.h"
#include "tests/verify/region_fixture.h"
#include "verify/static_check.h"

namespace fusefarm::verify {
namespace {

int check_generated(const graph::Graph& model, const std::vector<RegionClass>& classes,
                    const graph::Bindings& bindings, std::uint64_t seed) {
  int checked = 0;
  Random random(seed);
  for (const RegionClass& region_class : classes) {
    const graph::Canonical canonical = graph::canonicalise(region_of(model, region_class));
    const auto plan = codegen::match(canonical.graph);
    if (!plan) {
      continue;
    }
    const codegen::ScheduleSpace space(canonical.graph, *plan, bindings, 2);
    for (int i = 0; i < 12; ++i) {
      const Candidate candidate = codegen::generate(canonical.graph, canonical.signature, *plan,
                                                    space.sample(random), 2, bindings);
      const auto verdict = static_check(candidate, canonical.graph, bindings);
      EXPECT_FALSE(verdict.has_value()) << region_class.name << ": " << verdict->detail << "\n"
                                        << candidate.source;
      ++checked;
      if (verdict) {
        return checked;
      }
    }
  }
  return checked;
}

TEST(GeneratedTest, TheStaticCheckLetsEveryGeneratedCandidateThrough) {
  for (const graph::DType dtype : {graph::DType::kBF16, graph::DType::kF32}) {
    EXPECT_GE(check_generated(dense_model(graph::Phase::kDecode, dtype), dense_classes(),
                              decode_bindings(), 1),
              60);
    const std::vector<RegionClass> routed{{"router", {"router_select"}},
                                          {"routed", {"mlp.router", "router_select"}}};
    EXPECT_GE(check_generated(moe_model(dtype), routed, decode_bindings(), 2), 12);
  }
}

}  // namespace
}  // namespace fusefarm::verify
