#include "graph/graph_json_reader.h"

#include <array>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "graph/strict_json.h"

namespace fusefarm::graph {
namespace {

using nlohmann::json;

constexpr std::int64_t kIdMax = std::int64_t{1} << 30;
constexpr std::array<const char*, 4> kKindNames{"input", "weight", "state", "activation"};
constexpr std::array<const char*, 3> kInitNames{"normal", "around_one", "small"};

Error bad(const std::string& why) { return Error{ErrorCode::kInvalidArgument, "graph: " + why}; }

// The object has each of these keys, and no other than the optional ones.
Result<void> check_keys(const json& object, const std::set<std::string>& required,
                        const std::set<std::string>& optional = {}) {
  if (!object.is_object()) {
    return bad("expected an object, found " + shown(object));
  }
  for (const std::string& key : required) {
    if (!object.contains(key)) {
      return bad("key '" + key + "' is missing in " + shown(object));
    }
  }
  for (const auto& [key, value] : object.items()) {
    if (!required.contains(key) && !optional.contains(key)) {
      return bad("unknown key '" + key.substr(0, 80) + "'");
    }
  }
  return {};
}

Result<std::int64_t> integer(const json& value, std::int64_t least, std::int64_t most) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) &&
                    value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
  if (!fits) {
    return bad(shown(value) + " is not a whole number in range");
  }
  return value.get<std::int64_t>();
}

Result<std::string> text(const json& value) {
  if (!value.is_string()) {
    return bad(shown(value) + " is not a text");
  }
  return value.get<std::string>();
}

Result<std::int32_t> id_of(const json& value) {
  return static_cast<std::int32_t>(TRY(integer(value, 0, kIdMax)));
}

Result<std::vector<TensorId>> ids_of(const json& value) {
  if (!value.is_array()) {
    return bad(shown(value) + " is not a list of ids");
  }
  std::vector<TensorId> ids;
  for (const json& id : value) {
    ids.push_back(TRY(id_of(id)));
  }
  return ids;
}

template <std::size_t N>
Result<std::size_t> index_in(const std::array<const char*, N>& names, const json& value) {
  for (std::size_t i = 0; i < N; ++i) {
    if (value == names[i]) {
      return i;
    }
  }
  return bad(shown(value) + " is not a known name");
}

Result<Dim> dim_of(const json& value) {
  if (value.is_number()) {
    return fixed(TRY(integer(value, 1, std::int64_t{1} << 40)));
  }
  std::string spelled = TRY(text(value));
  Dim dim;
  if (const std::size_t star = spelled.find('*'); star != std::string::npos) {
    dim.factor = TRY(parse_int(spelled.substr(0, star)));
    spelled.erase(0, star + 1);
  }
  for (const Symbol symbol :
       {Symbol::kTokens, Symbol::kSequences, Symbol::kSlots, Symbol::kLogitRows}) {
    if (spelled == to_string(symbol)) {
      dim.symbol = symbol;
    }
  }
  // One spelling a dim: what is read is written back the same.
  if (dim.symbol == Symbol::kOne || value != to_string(dim)) {
    return bad(shown(value) + " is not a dim (a number, T, B, S, L or such as 8*T)");
  }
  return dim;
}

Result<Tensor> tensor_of(const json& object) {
  TRY(check_keys(object, {"id", "name", "kind", "dtype", "shape", "init", "init_scale"}));
  Tensor tensor;
  tensor.id = TRY(id_of(object["id"]));
  tensor.name = TRY(text(object["name"]));
  tensor.kind = static_cast<TensorKind>(TRY(index_in(kKindNames, object["kind"])));
  const auto dtype = dtype_from(TRY(text(object["dtype"])));
  if (!dtype) {
    return bad(shown(object["dtype"]) + " is not a dtype");
  }
  tensor.dtype = *dtype;
  if (!object["shape"].is_array()) {
    return bad("a shape is a list");
  }
  for (const json& dim : object["shape"]) {
    tensor.shape.push_back(TRY(dim_of(dim)));
  }
  tensor.init = static_cast<Init>(TRY(index_in(kInitNames, object["init"])));
  if (!object["init_scale"].is_number()) {
    return bad("init_scale is not a number");
  }
  tensor.init_scale = object["init_scale"].get<double>();
  return tensor;
}

Result<Attrs> attrs_of(const json& object) {
  if (!object.is_object()) {
    return bad("attrs is not an object");
  }
  Attrs attrs;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number_float()) {
      attrs.set(name, value.get<double>());
    } else if (value.is_string()) {
      attrs.set(name, value.get<std::string>());
    } else {
      attrs.set(name, TRY(integer(value, -(std::int64_t{1} << 53), std::int64_t{1} << 53)));
    }
  }
  return attrs;
}

Result<std::vector<std::pair<int, int>>> aliases_of(const json& list, const Node& node) {
  if (!list.is_array()) {
    return bad("aliases is not a list");
  }
  std::vector<std::pair<int, int>> aliases;
  for (const json& pair : list) {
    if (!pair.is_array() || pair.size() != 2) {
      return bad("an alias is [output, input]");
    }
    const auto outputs = static_cast<std::int64_t>(node.outputs.size());
    const auto inputs = static_cast<std::int64_t>(node.inputs.size());
    aliases.emplace_back(static_cast<int>(TRY(integer(pair[0], 0, outputs - 1))),
                         static_cast<int>(TRY(integer(pair[1], 0, inputs - 1))));
  }
  return aliases;
}

Result<Node> node_of(const json& object) {
  TRY(check_keys(object, {"id", "op", "name", "layer", "inputs", "outputs", "attrs"},
                 {"aliases", "body", "origin"}));
  Node node;
  node.id = TRY(id_of(object["id"]));
  const auto op = op_from(TRY(text(object["op"])));
  if (!op) {
    return bad(shown(object["op"]) + " is not an op");
  }
  node.op = *op;
  node.name = TRY(text(object["name"]));
  node.layer = static_cast<std::int32_t>(TRY(integer(object["layer"], kNone, 1 << 20)));
  node.inputs = TRY(ids_of(object["inputs"]));
  node.outputs = TRY(ids_of(object["outputs"]));
  node.attrs = TRY(attrs_of(object["attrs"]));
  if (object.contains("aliases")) {
    node.aliases = TRY(aliases_of(object["aliases"], node));
  }
  for (const auto& [key, place] : {std::pair{"body", &node.body}, {"origin", &node.origin}}) {
    if (!object.contains(key)) {
      continue;
    }
    if (node.op != OpKind::kRegion) {
      return bad("only a region has a body");
    }
    *place = std::make_shared<const Graph>(TRY(read_graph_json(object[key])));
  }
  return node;
}

Result<void> add_node(Graph& graph, Node node) {
  const std::string named = "node " + std::to_string(node.id);
  if (graph.has_node(node.id)) {
    return bad(named + " is given twice");
  }
  for (const TensorId id : node.inputs) {
    if (!graph.tensors().contains(id)) {
      return bad(named + " reads tensor " + std::to_string(id));
    }
  }
  std::set<TensorId> own;
  for (const TensorId id : node.outputs) {
    if (!graph.tensors().contains(id) || graph.producer(id) != nullptr || !own.insert(id).second) {
      return bad(named + " writes tensor " + std::to_string(id) +
                 ", which does not exist or is written twice");
    }
    if (!graph.consumers(id).empty()) {
      return bad(named + " writes tensor " + std::to_string(id) +
                 ", which an earlier node reads: nodes are not in order, or form a cycle");
    }
  }
  for (const TensorId id : node.inputs) {
    if (own.contains(id)) {
      return bad(named + " reads what it writes: a cycle");
    }
  }
  graph.add_node(std::move(node));
  return {};
}

}  // namespace

const char* to_string(TensorKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

const char* to_string(Init init) { return kInitNames[static_cast<std::size_t>(init)]; }

Result<Graph> read_graph_json(const json& object) {
  TRY(check_keys(object, {"version", "next_id", "tensors", "nodes", "inputs", "outputs"}));
  Graph graph;
  graph.version = static_cast<std::int32_t>(TRY(integer(object["version"], 0, kIdMax)));
  if (!object["tensors"].is_array() || !object["nodes"].is_array()) {
    return bad("tensors and nodes are lists");
  }
  for (const json& given : object["tensors"]) {
    Tensor tensor = TRY(tensor_of(given));
    if (graph.tensors().contains(tensor.id)) {
      return bad("tensor " + std::to_string(tensor.id) + " is given twice");
    }
    graph.add_tensor(std::move(tensor));
  }
  for (const json& given : object["nodes"]) {
    TRY(add_node(graph, TRY(node_of(given))));
  }
  graph.inputs = TRY(ids_of(object["inputs"]));
  graph.outputs = TRY(ids_of(object["outputs"]));
  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (const TensorId id : *ids) {
      if (!graph.tensors().contains(id)) {
        return bad("tensor " + std::to_string(id) + " of the boundary does not exist");
      }
    }
  }
  const auto next_id = static_cast<std::int32_t>(TRY(integer(object["next_id"], 0, kIdMax + 1)));
  if (next_id < graph.next_id) {
    return bad("next_id is not above every id");
  }
  graph.next_id = next_id;
  return graph;
}

}  // namespace fusefarm::graph
