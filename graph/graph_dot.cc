#include <set>
#include <string>

#include "graph/graph_io.h"

namespace fusefarm::graph {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    if (c != '\n') {
      out += c;
    }
  }
  return out;
}

std::string shape_text(const Tensor& tensor) {
  std::string text = to_string(tensor.dtype);
  text += "[";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    text += (i > 0 ? "," : "") + to_string(tensor.shape[i]);
  }
  return text + "]";
}

// Collectives are hexagons, nodes that overwrite state have a bold red edge, views are dashed.
std::string node_line(const std::string& key, const Node& node) {
  std::string style = "shape=box";
  if (is_collective(node.op)) {
    style = "shape=hexagon, style=filled, fillcolor=\"#ffe0b0\"";
  }
  if (is_view(node.op)) {
    style = "shape=box, style=dashed";
  }
  if (!node.aliases.empty()) {
    style += ", color=red, penwidth=2";
  }
  return key + " [label=\"" + to_string(node.op) + "\\n" + escaped(node.name) + "\", " + style +
         "];\n";
}

class DotWriter {
 public:
  std::string write(const Graph& graph) {
    out_ = "digraph model {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=10];\n";
    for (const Node& node : graph.nodes()) {
      add_node(graph, node, "  ");
    }
    for (const TensorId id : graph.inputs) {
      const Tensor& tensor = graph.tensor(id);
      if (tensor.kind == TensorKind::kWeight) {
        continue;
      }
      out_ += "  t" + std::to_string(id) + " [label=\"" + escaped(tensor.name) + "\\n" +
              shape_text(tensor) + "\", shape=ellipse];\n";
    }
    out_ += edges_ + "}\n";
    return std::move(out_);
  }

 private:
  void add_node(const Graph& graph, const Node& node, const std::string& indent) {
    const Graph* inside = node.origin != nullptr ? node.origin.get() : nullptr;
    if (inside == nullptr) {
      out_ += indent + node_line("n" + std::to_string(node.id), node);
      add_edges(graph, node);
      return;
    }
    out_ += indent + "subgraph cluster_" + std::to_string(node.id) + " {\n" + indent +
            "  label=\"" + escaped(node.name) + "\"; style=filled; color=\"#d0e8d0\";\n";
    for (const Node& member : inside->nodes()) {
      add_node(*inside, member, indent + "  ");
    }
    out_ += indent + "}\n";
  }

  // Ids inside a region are those of the graph around it, so edges cross its border by themselves.
  void add_edges(const Graph& graph, const Node& node) {
    for (const TensorId id : node.outputs) {
      writer_[id] = node.id;
    }
    for (const TensorId id : node.inputs) {
      const Tensor& tensor = graph.tensor(id);
      if (tensor.kind == TensorKind::kWeight) {
        continue;
      }
      const auto found = writer_.find(id);
      const std::string from =
          found == writer_.end() ? "t" + std::to_string(id) : "n" + std::to_string(found->second);
      edges_ += "  " + from + " -> n" + std::to_string(node.id) + " [label=\"" +
                shape_text(tensor) + "\", fontsize=8];\n";
    }
  }

  std::string out_;
  std::string edges_;
  std::map<TensorId, NodeId> writer_;
};

}  // namespace

std::string to_dot(const Graph& graph) { return DotWriter().write(graph); }

}  // namespace fusefarm::graph
