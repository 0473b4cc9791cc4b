#include "childlink/program_codec.h"

#include <array>
#include <cmath>

#include "childlink/json_reader.h"

namespace fusefarm::childlink {
namespace {

constexpr std::size_t kBuffersMax = 1U << 16;
constexpr std::size_t kStepsMax = 1U << 16;
constexpr std::size_t kTensorsMax = 64;
constexpr std::size_t kArtifactsMax = 1U << 12;
constexpr std::size_t kNameMax = 4096;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 40;
constexpr std::int64_t kIndexMax = INT32_MAX;

Json layout_json(const PreparedLayout& layout) {
  return {{"panel", layout.panel},
          {"order", layout.order == RowOrder::kHalves ? "halves" : "linear"},
          {"dtype", graph::to_string(layout.dtype)},
          {"pair_interleave", layout.pair_interleave}};
}

Json buffer_json(const ProgramBuffer& buffer) {
  return {{"placement", static_cast<int>(buffer.placement)},
          {"dtype", graph::to_string(buffer.dtype)},
          {"rows", buffer.rows},
          {"columns", buffer.columns},
          {"offset", buffer.offset},
          {"poison", buffer.poison},
          {"source", buffer.source},
          {"layout", layout_json(buffer.layout)},
          {"copies", buffer.copies},
          {"name", buffer.name}};
}

Json attrs_json(const graph::Attrs& attrs) {
  Json json = Json::object();
  for (const auto& [name, value] : attrs.values()) {
    std::visit([&, &key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

Json step_json(const ProgramStep& step) {
  Json tensors = Json::array();
  for (const TensorRef& ref : step.tensors) {
    tensors.push_back({ref.buffer, ref.column, ref.row_stride, ref.rows, ref.columns});
  }
  return {{"kind", step.kind == StepKind::kCandidate ? "candidate" : "builtin"},
          {"op", graph::to_string(step.op)},
          {"attrs", attrs_json(step.attrs)},
          {"choice", step.choice},
          {"artifact", step.artifact},
          {"entry", step.entry},
          {"blocks", step.blocks},
          {"dims", step.dims},
          {"tensors", std::move(tensors)},
          {"node", step.node}};
}

Result<graph::DType> read_dtype(ObjectReader& reader) {
  const std::string name = TRY(reader.text("dtype", 16));
  const auto dtype = graph::dtype_from(name);
  if (!dtype) {
    return reader.wrong("dtype", "is '" + name + "'");
  }
  return *dtype;
}

Result<PreparedLayout> read_layout(const Json& json, const std::string& where) {
  auto reader = TRY(ObjectReader::open(json, where));
  PreparedLayout layout;
  layout.panel = TRY(reader.integer("panel", 0, 1 << 20));
  const std::string order = TRY(reader.text("order", 16));
  if (order != "linear" && order != "halves") {
    return reader.wrong("order", "is '" + order + "'");
  }
  layout.order = order == "halves" ? RowOrder::kHalves : RowOrder::kLinear;
  layout.dtype = TRY(read_dtype(reader));
  layout.pair_interleave = TRY(reader.boolean("pair_interleave"));
  TRY(reader.finish());
  return layout;
}

Result<ProgramBuffer> read_buffer(const Json& json, const std::string& where) {
  auto reader = TRY(ObjectReader::open(json, where));
  ProgramBuffer buffer;
  buffer.placement = static_cast<Placement>(
      TRY(reader.integer("placement", 0, static_cast<int>(Placement::kPrepared))));
  buffer.dtype = TRY(read_dtype(reader));
  buffer.rows = TRY(reader.integer("rows", 0, kBytesMax));
  buffer.columns = TRY(reader.integer("columns", 0, kBytesMax));
  buffer.offset = TRY(reader.integer("offset", 0, kBytesMax));
  buffer.poison = TRY(reader.boolean("poison"));
  buffer.source = static_cast<std::int32_t>(TRY(reader.integer("source", -1, kIndexMax)));
  const Json* layout = TRY(reader.object("layout"));
  buffer.layout = TRY(read_layout(*layout, where + ".layout"));
  buffer.copies = static_cast<std::int32_t>(TRY(reader.integer("copies", 1, kIndexMax)));
  buffer.name = TRY(reader.text("name", kNameMax));
  TRY(reader.finish());
  return buffer;
}

Result<graph::Attrs> read_attrs(const Json& json, const std::string& where) {
  graph::Attrs attrs;
  for (const auto& [key, value] : json.items()) {
    if (value.is_string()) {
      attrs.set(key, value.get<std::string>());
    } else if (value.is_number_float() && std::isfinite(value.get<double>())) {
      attrs.set(key, value.get<double>());
    } else if (value.is_number_integer()) {
      attrs.set(key, value.get<std::int64_t>());
    } else {
      return Error{ErrorCode::kIntegrity, where + "." + key + " is no attribute value"};
    }
  }
  return attrs;
}

Result<TensorRef> read_ref(const Json& json, const std::string& where) {
  std::array<std::int64_t, 5> numbers{};
  if (!json.is_array() || json.size() != numbers.size()) {
    return Error{ErrorCode::kIntegrity, where + " is no list of five integers"};
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!json[i].is_number_integer()) {
      return Error{ErrorCode::kIntegrity, where + " is no list of five integers"};
    }
    numbers[i] = json[i].get<std::int64_t>();
  }
  if (numbers[0] < 0 || numbers[0] > kIndexMax) {
    return Error{ErrorCode::kIntegrity, where + " refers to no buffer"};
  }
  return TensorRef{static_cast<std::int32_t>(numbers[0]), numbers[1], numbers[2], numbers[3],
                   numbers[4]};
}

Result<ProgramStep> read_step(const Json& json, const std::string& where) {
  auto reader = TRY(ObjectReader::open(json, where));
  ProgramStep step;
  const std::string kind = TRY(reader.text("kind", 16));
  if (kind != "builtin" && kind != "candidate") {
    return reader.wrong("kind", "is '" + kind + "'");
  }
  step.kind = kind == "candidate" ? StepKind::kCandidate : StepKind::kBuiltin;
  const auto op = graph::op_from(TRY(reader.text("op", 64)));
  if (!op) {
    return reader.wrong("op", "is no operation");
  }
  step.op = *op;
  const Json* attrs = TRY(reader.object("attrs"));
  step.attrs = TRY(read_attrs(*attrs, where + ".attrs"));
  step.choice = TRY(reader.text("choice", 64));
  step.artifact = static_cast<std::int32_t>(TRY(reader.integer("artifact", -1, kIndexMax)));
  step.entry = TRY(reader.text("entry", 256));
  step.blocks = TRY(reader.integer("blocks", 0, kIndexMax));
  for (const Json& dim : *TRY(reader.array("dims", kTensorsMax))) {
    if (!dim.is_number_integer()) {
      return reader.wrong("dims", "holds something else than integers");
    }
    step.dims.push_back(dim.get<std::int64_t>());
  }
  for (const Json& ref : *TRY(reader.array("tensors", kTensorsMax))) {
    step.tensors.push_back(TRY(read_ref(ref, where + ".tensors")));
  }
  step.node = static_cast<std::int32_t>(TRY(reader.integer("node", -1, kIndexMax)));
  TRY(reader.finish());
  return step;
}

}  // namespace

std::string program_to_json(const Program& program) {
  Json buffers = Json::array();
  for (const ProgramBuffer& buffer : program.buffers) {
    buffers.push_back(buffer_json(buffer));
  }
  Json steps = Json::array();
  for (const ProgramStep& step : program.steps) {
    steps.push_back(step_json(step));
  }
  const Json json = {{"buffers", std::move(buffers)},         {"steps", std::move(steps)},
                     {"artifacts", program.artifacts.size()}, {"set_bytes", program.set_bytes},
                     {"weight_bytes", program.weight_bytes},  {"sets", program.sets}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Program> program_from_json(std::string_view text) {
  const Json json = TRY(parse_object(text));
  auto reader = TRY(ObjectReader::open(json, "program"));
  Program program;
  const Json& buffers = *TRY(reader.array("buffers", kBuffersMax));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string where = "program.buffers[" + std::to_string(i) + "]";
    program.buffers.push_back(TRY(read_buffer(buffers[i], where)));
  }
  const Json& steps = *TRY(reader.array("steps", kStepsMax));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string where = "program.steps[" + std::to_string(i) + "]";
    program.steps.push_back(TRY(read_step(steps[i], where)));
  }
  const std::int64_t artifacts = TRY(reader.integer("artifacts", 0, kArtifactsMax));
  program.artifacts.resize(static_cast<std::size_t>(artifacts));
  program.set_bytes = TRY(reader.integer("set_bytes", 0, kBytesMax));
  program.weight_bytes = TRY(reader.integer("weight_bytes", 0, kBytesMax));
  program.sets = static_cast<int>(TRY(reader.integer("sets", 1, 1 << 16)));
  TRY(reader.finish());
  TRY(check_program(program));
  return program;
}

}  // namespace fusefarm::childlink
