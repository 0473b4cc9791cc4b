// A graph that is read back must survive everything that is done to graphs, and be written the
// same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "graph/cost.h"
#include "graph/graph_io.h"
#include "graph/region.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fusefarm;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<graph::Graph> read = graph::graph_from_json(text);
  if (!read.ok()) {
    FUSEFARM_CHECK(!read.error().message.empty(), "an error without a reason");
    return 0;
  }
  const std::string written = graph::to_json(*read);
  const Result<graph::Graph> again = graph::graph_from_json(written);
  FUSEFARM_CHECK(again.ok(), again.ok() ? "" : again.error().message);
  FUSEFARM_CHECK(graph::to_json(*again) == written, "written differently the second time");
  FUSEFARM_CHECK(!graph::to_dot(*read).empty(), "no Graphviz text");
  graph::region_cost(*read, graph::Bindings{8, 2, 64, 2});
  graph::EnumerateOptions options;
  options.nodes_max = 3;
  options.regions_max = 50;
  for (const graph::NodeSet& set : graph::enumerate_regions(*read, options)) {
    const Result<graph::Graph> contracted = graph::contract(*read, set.nodes);
    FUSEFARM_CHECK(contracted.ok(), contracted.ok() ? "" : contracted.error().message);
  }
  return 0;
}
