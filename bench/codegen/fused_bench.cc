// Fused candidates against the unfused baseline on the shapes of a small decoder (hidden 1024, 16 /
// 8 heads of 128, intermediate 3072): prints one JSON object per region and token count.
//   fused_bench [--tokens 8,64] [--regions qkv,o,gate_up,down,mlp,head,...] [--candidates 12]
//               [--pairs 15] [--schedule name=value,...] [--source]
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/bf16.h"
#include "base/check.h"
#include "base/files.h"
#include "base/text.h"
#include "bench/codegen/program_runner.h"
#include "codegen/cpu_generator.h"
#include "tests/codegen/region_fixtures.h"

namespace fusefarm::bench {
namespace {

using codegen::Schedule;
using codegen::test::RegionBuilder;
using graph::DType;
using graph::fixed;
using graph::Graph;
using graph::TensorId;
using graph::tokens;

constexpr std::int64_t kHidden = 1024, kQueries = 16, kKeys = 8, kDim = 128, kInner = 3072;
constexpr std::int64_t kVocabulary = 151936, kContext = 512;
constexpr int kThreads = 2;

Graph qkv(bool with_norm) {
  RegionBuilder b(DType::kBF16);
  const TensorId x = b.input({tokens(), fixed(kHidden)});
  const TensorId positions = b.input({tokens()}, DType::kI32);
  const TensorId slots = b.input({tokens()}, DType::kI32);
  const graph::Dim all{graph::Symbol::kSlots, 1};
  const TensorId y = b.linear(with_norm ? b.norm(x) : x, (kQueries + 2 * kKeys) * kDim);
  const auto heads = b.split(y, kQueries, kKeys, kDim);
  const TensorId q = b.rope(b.norm(heads.q), positions);
  const TensorId k = b.rope(b.norm(heads.k), positions);
  const RegionBuilder::Caches caches{b.state({all, fixed(kKeys), fixed(kDim)}),
                                     b.state({all, fixed(kKeys), fixed(kDim)})};
  const auto written = b.kv_write(k, heads.v, slots, caches);
  return b.finish({q, written.k, written.v});
}

Graph projection(std::int64_t k) {
  RegionBuilder b(DType::kBF16);
  const TensorId x = b.input({tokens(), fixed(k)});
  const TensorId residual = b.input({tokens(), fixed(kHidden)});
  return b.finish({b.add(residual, b.linear(x, kHidden))});
}

Graph gate_up() {
  RegionBuilder b(DType::kBF16);
  const TensorId x = b.input({tokens(), fixed(kHidden)});
  return b.finish({b.silu_mul(b.linear(b.norm(x), 2 * kInner))});
}

Graph mlp(bool with_projection) {
  RegionBuilder b(DType::kBF16);
  const TensorId residual = b.input({tokens(), fixed(kHidden)});
  TensorId middle = residual;
  if (with_projection) {
    const TensorId attended = b.input({tokens(), fixed(kQueries * kDim)});
    middle = b.add(residual, b.linear(attended, kHidden));
  }
  const TensorId inner = b.silu_mul(b.linear(b.norm(middle), 2 * kInner));
  return b.finish({b.add(middle, b.linear(inner, kHidden))});
}

Graph head() {
  RegionBuilder b(DType::kBF16);
  const TensorId logits = b.linear(b.norm(b.input({tokens(), fixed(kHidden)})), kVocabulary);
  return b.finish({b.op(graph::OpKind::kArgmax, {logits}, {tokens()}, DType::kI32)});
}

Graph add_norm() {
  RegionBuilder b(DType::kBF16);
  const TensorId sum =
      b.add(b.input({tokens(), fixed(kHidden)}), b.input({tokens(), fixed(kHidden)}));
  const TensorId y = b.norm(sum);
  return b.finish({sum, y});
}

std::map<std::string, Graph> regions() {
  return {{"add_norm", add_norm()},
          {"qkv", qkv(true)},
          {"o", projection(kQueries * kDim)},
          {"gate_up", gate_up()},
          {"down", projection(kInner)},
          {"mlp", mlp(false)},
          {"o_mlp", mlp(true)},
          {"head", head()}};
}

void fill(std::byte* to, std::int64_t bytes, DType dtype, double scale) {
  Random random(static_cast<std::uint64_t>(bytes));
  if (dtype == DType::kI32) {
    auto* values = reinterpret_cast<std::int32_t*>(to);
    for (std::int64_t i = 0; i < bytes / 4; ++i) {
      values[i] = static_cast<std::int32_t>(i);
    }
    return;
  }
  auto* values = reinterpret_cast<std::uint16_t*>(to);
  for (std::int64_t i = 0; i < bytes / 2; ++i) {
    values[i] = float_to_bf16(static_cast<float>((random.uniform() - 0.5) * 2 * scale));
  }
}

std::string compiled(const Candidate& candidate, const std::string& folder) {
  static int number = 0;
  const std::string stem = folder + "/" + std::to_string(number++);
  FUSEFARM_CHECK(write_file_atomically(stem + ".cc", candidate.source).ok(), stem);
  std::string command = "g++";
  for (const std::string& flag : candidate.flags) {
    command += " " + flag;
  }
  command +=
      " -std=c++20 -fPIC -shared -fno-exceptions -fno-rtti -fno-stack-protector "
      "-ffp-contract=fast -fno-math-errno -fno-trapping-math -nostartfiles -w -o " +
      stem + ".so " + stem + ".cc";
  FUSEFARM_CHECK(std::system(command.c_str()) == 0, command);
  return stem + ".so";
}

struct Options {
  std::vector<std::int64_t> tokens{8, 64};
  std::vector<std::string> regions;
  std::size_t candidates = 12;
  int pairs = 15;
  Schedule fixed;
  bool source = false;
};

void run(const std::string& name, const Graph& region, std::int64_t token_count,
         const Options& options, const std::string& folder, SpinTeam& team) {
  const graph::Bindings bindings{token_count, token_count, token_count * kContext, token_count};
  codegen::LowerOptions lower_options;
  lower_options.bindings = bindings;
  lower_options.boundary = graph::boundary_layout(region, bindings);
  lower_options.weights = graph::weight_layout(region, bindings);
  lower_options.rotation_bytes = 72 << 20;
  Shared shared{Pages(static_cast<std::size_t>(lower_options.boundary.bytes)),
                Pages(static_cast<std::size_t>(lower_options.weights.bytes))};
  std::int64_t weight_bytes = 0;
  for (const auto& [id, tensor] : region.tensors()) {
    const bool weight = tensor.kind == graph::TensorKind::kWeight;
    const std::int64_t bytes = graph::byte_count(tensor, bindings);
    weight_bytes += weight ? bytes : 0;
    if (weight) {
      fill(shared.weights.data() + lower_options.weights.offset.at(id), bytes, tensor.dtype, 0.05);
    } else if (lower_options.boundary.offset.contains(id)) {
      fill(shared.boundary.data() + lower_options.boundary.offset.at(id), bytes, tensor.dtype, 1);
    }
  }
  const auto lowered = codegen::lower(region, lower_options);
  FUSEFARM_CHECK(lowered.ok(), lowered.error().message);
  Instance baseline(lowered.value(), shared, "", kThreads);
  const auto plan = codegen::match(region);
  FUSEFARM_CHECK(plan.has_value(), name);
  const codegen::ScheduleSpace space(region, *plan, bindings, kThreads);
  std::vector<Schedule> points;
  if (options.fixed.empty()) {
    points = space.ranked(options.candidates);
  } else {
    points = {space.start()};
    for (const auto& [key, value] : options.fixed) {
      points[0][key] = value;
    }
  }
  nlohmann::json report{{"region", name},
                        {"tokens", token_count},
                        {"family", plan->family},
                        {"space", space.size()},
                        {"baseline_steps", baseline.steps()}};
  nlohmann::json list = nlohmann::json::array();
  double best = 1e9;
  for (const Schedule& point : points) {
    if (!space.valid(point)) {
      std::cerr << "invalid point\n";
      continue;
    }
    const Candidate candidate = codegen::generate(region, {}, *plan, point, kThreads, bindings);
    if (options.source) {
      std::cerr << candidate.source;
    }
    const auto own = codegen::lower_candidate(region, candidate, lower_options);
    FUSEFARM_CHECK(own.ok(), own.error().message);
    Instance instance(own.value(), shared, compiled(candidate, folder), kThreads);
    const int launches =
        std::max(1, static_cast<int>(4e-3 / (1e-6 + static_cast<double>(weight_bytes) / 25e9)));
    const PairTime time =
        time_pairs(baseline, instance, team, options.pairs, std::min(launches, 200));
    list.push_back({{"schedule", point},
                    {"baseline_us", time.first * 1e6},
                    {"candidate_us", time.second * 1e6},
                    {"speedup", 1 / time.ratio},
                    {"predicted_us", space.predict(point).seconds * 1e6},
                    {"gb_per_second", static_cast<double>(weight_bytes) / time.second * 1e-9}});
    if (time.ratio < best) {
      best = time.ratio;
      report["best"] = list.back();
    }
  }
  report["candidates"] = list;
  std::cout << report.dump() << std::endl;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (key == "--source") {
      options.source = true;
      continue;
    }
    ++i;
    if (key == "--tokens") {
      options.tokens.clear();
      for (const std::string& part : split(value, ',')) {
        options.tokens.push_back(parse_int(part).value_or(8));
      }
    } else if (key == "--regions") {
      options.regions = split(value, ',');
    } else if (key == "--candidates") {
      options.candidates = static_cast<std::size_t>(parse_int(value).value_or(12));
    } else if (key == "--pairs") {
      options.pairs = static_cast<int>(parse_int(value).value_or(15));
    } else if (key == "--schedule") {
      for (const std::string& part : split(value, ',')) {
        const auto at = part.find('=');
        options.fixed[part.substr(0, at)] = parse_int(part.substr(at + 1)).value_or(0);
      }
    }
  }
  return options;
}

}  // namespace
}  // namespace fusefarm::bench

int main(int argc, char** argv) {
  using namespace fusefarm::bench;  // NOLINT(google-build-using-namespace)
  const Options options = parse(argc, argv);
  std::string folder = (std::filesystem::temp_directory_path() / "fused-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return 1;
  }
  SpinTeam team(kThreads);
  for (const auto& [name, region] : regions()) {
    if (!options.regions.empty() &&
        std::ranges::find(options.regions, name) == options.regions.end()) {
      continue;
    }
    for (const std::int64_t token_count : options.tokens) {
      run(name, region, token_count, options, folder, team);
    }
  }
  std::filesystem::remove_all(folder);
  return 0;
}
