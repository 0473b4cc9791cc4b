#include "records/launch_plan_json.h"

#include "records/json_fields.h"

namespace fusefarm {
namespace internal {
namespace {

const std::vector<std::string>& buffer_kinds() {  // by BufferKind
  static const std::vector<std::string> names{"scratch", "zeroed", "prepared"};
  return names;
}

const std::vector<std::string>& row_orders() {  // by RowOrder
  static const std::vector<std::string> names{"linear", "halves"};
  return names;
}

Json encode(const PreparedLayout& layout) {
  return Json{{"panel", layout.panel},
              {"order", row_orders().at(static_cast<std::size_t>(layout.order))},
              {"dtype", graph::to_string(layout.dtype)},
              {"pair_interleave", layout.pair_interleave}};
}

PreparedLayout decode_layout(JsonObject& object) {
  PreparedLayout layout;
  layout.panel = object.integer("panel", 0, 1 << 20);
  layout.order = static_cast<RowOrder>(object.one_of("order", row_orders()));
  layout.dtype = object.dtype("dtype");
  layout.pair_interleave = object.boolean("pair_interleave");
  return layout;
}

Json encode(const BufferSpec& buffer) {
  Json out{{"kind", buffer_kinds().at(static_cast<std::size_t>(buffer.kind))}};
  if (buffer.kind == BufferKind::kPrepared) {
    out["weight"] = buffer.weight;
    out["layout"] = encode(buffer.layout);
  } else {
    out["dtype"] = graph::to_string(buffer.dtype);
    out["rows"] = graph::to_string(buffer.rows);
    out["columns"] = buffer.columns;
  }
  return out;
}

BufferSpec decode_buffer(JsonObject& object) {
  BufferSpec buffer;
  buffer.kind = static_cast<BufferKind>(object.one_of("kind", buffer_kinds()));
  if (buffer.kind == BufferKind::kPrepared) {
    buffer.weight = object.small("weight");
    buffer.layout = object.object("layout", decode_layout);
  } else {
    buffer.dtype = object.dtype("dtype");
    buffer.rows = object.dim("rows");
    buffer.columns = object.integer("columns", 0);
  }
  return buffer;
}

struct EncodeArg {
  Json operator()(const InputArg& arg) const { return {{"input", arg.index}}; }

  Json operator()(const OutputArg& arg) const { return {{"output", arg.index}}; }

  Json operator()(const BufferArg& arg) const { return {{"buffer", arg.index}}; }

  Json operator()(const DimArg& arg) const { return {{"dim", graph::to_string(arg.dim)}}; }

  Json operator()(const ConstantArg& arg) const { return {{"constant", arg.value}}; }
};

// The one key tells the kind: a second one is an unknown field.
LaunchArg decode_arg(JsonObject& object) {
  if (object.has("input")) {
    return InputArg{object.small("input")};
  }
  if (object.has("output")) {
    return OutputArg{object.small("output")};
  }
  if (object.has("buffer")) {
    return BufferArg{object.small("buffer")};
  }
  if (object.has("dim")) {
    return DimArg{object.dim("dim")};
  }
  if (object.has("constant")) {
    return ConstantArg{object.integer("constant")};
  }
  object.report("an argument is one of input, output, buffer, dim, constant");
  return ConstantArg{};
}

Json encode(const GridExpr& grid) {
  return Json{{"dim", graph::to_string(grid.dim)}, {"divisor", grid.divisor}};
}

GridExpr decode_grid(JsonObject& object) {
  GridExpr grid;
  grid.dim = object.dim("dim");
  grid.divisor = object.integer("divisor", 1);
  return grid;
}

struct EncodeStep {
  Json operator()(const KernelStep& step) const {
    Json args = Json::array();
    for (const LaunchArg& arg : step.args) {
      args.push_back(std::visit(EncodeArg{}, arg));
    }
    return {{"kernel", {{"entry", step.entry}, {"grid", encode(step.grid)}, {"args", args}}}};
  }

  Json operator()(const LibraryStep& step) const { return {{"library", {{"node", step.node}}}}; }
};

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name.front())) {
    return false;
  }
  for (const char c : name) {
    if (!letter(c) && (c < '0' || c > '9')) {
      return false;
    }
  }
  return true;
}

KernelStep decode_kernel(JsonObject& object) {
  KernelStep step;
  step.entry = object.text("entry", 128);
  if (!is_identifier(step.entry)) {
    object.report("entry '" + step.entry + "' is not a C identifier");
  }
  step.grid = object.object("grid", decode_grid);
  step.args = object.objects("args", kStepArgsMax, decode_arg);
  return step;
}

LibraryStep decode_library(JsonObject& object) { return LibraryStep{object.small("node")}; }

PlanStep decode_step(JsonObject& object) {
  if (object.has("kernel")) {
    return object.object("kernel", decode_kernel);
  }
  if (object.has("library")) {
    return object.object("library", decode_library);
  }
  object.report("a step is one of kernel, library");
  return LibraryStep{};
}

}  // namespace

Json to_value(const LaunchPlan& plan) {
  Json buffers = Json::array();
  for (const BufferSpec& buffer : plan.buffers) {
    buffers.push_back(encode(buffer));
  }
  Json steps = Json::array();
  for (const PlanStep& step : plan.steps) {
    steps.push_back(std::visit(EncodeStep{}, step));
  }
  return Json{{"version", plan.version}, {"buffers", buffers}, {"steps", steps}};
}

LaunchPlan decode_launch_plan(JsonObject& object) {
  LaunchPlan plan;
  plan.version = object.small("version", 1);
  if (plan.version != kLaunchPlanVersion) {
    object.report("launch plan version " + std::to_string(plan.version) + " is not read here (" +
                  std::to_string(kLaunchPlanVersion) + ")");
  }
  plan.buffers = object.objects("buffers", kPlanBuffersMax, decode_buffer);
  plan.steps = object.objects("steps", kPlanStepsMax, decode_step);
  return plan;
}

}  // namespace internal

std::string to_json(const LaunchPlan& plan) { return internal::dump(internal::to_value(plan)); }

Result<LaunchPlan> launch_plan_from_json(std::string_view text) {
  return internal::decode_part(text, "launch plan", internal::decode_launch_plan);
}

}  // namespace fusefarm
