#include "tests/codegen/program_executor.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bf16.h"
#include "base/check.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/random.h"
#include "codegen/kernels/builtin.h"
#include "codegen/kernels/pack.h"

namespace fusefarm::codegen::test {

namespace {

struct FfTensor {
  void* data;
  long row_stride;
};

struct FfArgs {
  const FfTensor* tensors;
  const long* dims;
};

using Entry = void (*)(const FfArgs*, long);

using Bytes = std::vector<std::byte>;

void put(std::byte* to, std::size_t index, graph::DType dtype, double value) {
  if (dtype == graph::DType::kBF16) {
    const std::uint16_t bits = float_to_bf16(static_cast<float>(value));
    std::memcpy(to + 2 * index, &bits, 2);
  } else if (dtype == graph::DType::kF32) {
    const auto f = static_cast<float>(value);
    std::memcpy(to + 4 * index, &f, 4);
  } else {
    const auto i = static_cast<std::int32_t>(value);
    std::memcpy(to + 4 * index, &i, 4);
  }
}

double get(const std::byte* from, std::size_t index, graph::DType dtype) {
  if (dtype == graph::DType::kBF16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + 2 * index, 2);
    return bf16_to_float(bits);
  }
  if (dtype == graph::DType::kF32) {
    float f = 0;
    std::memcpy(&f, from + 4 * index, 4);
    return f;
  }
  std::int32_t i = 0;
  std::memcpy(&i, from + 4 * index, 4);
  return i;
}

// Removes its folder at exit: the shared objects stay loaded, not stored.
class ObjectFolder {
 public:
  ObjectFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "codegen-test-XXXXXX").string();
    FUSEFARM_CHECK(::mkdtemp(name.data()) != nullptr, name);
    path_ = name;
  }

  ~ObjectFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  ObjectFolder(const ObjectFolder&) = delete;
  ObjectFolder& operator=(const ObjectFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Memory {
 public:
  Memory(const graph::Graph& graph, const LowerOptions& options, const Lowered& lowered,
         const Values& inputs)
      : program_(lowered.program) {
    boundary_.assign(static_cast<std::size_t>(options.boundary.bytes), std::byte{0x3f});
    weights_.assign(static_cast<std::size_t>(options.weights.bytes), std::byte{0});
    for (const auto& [id, values] : inputs) {
      const graph::Tensor& tensor = graph.tensor(id);
      const bool weight = tensor.kind == graph::TensorKind::kWeight;
      const auto& offsets = weight ? options.weights.offset : options.boundary.offset;
      std::byte* to = (weight ? weights_ : boundary_).data() + offsets.at(id);
      for (std::size_t i = 0; i < values.size(); ++i) {
        put(to, i, tensor.dtype, values[i]);
      }
    }
    for (const ProgramBuffer& buffer : program_.buffers) {
      own_.push_back(make(buffer));
    }
  }

  std::byte* buffer(std::size_t index) {
    const ProgramBuffer& buffer = program_.buffers[index];
    switch (buffer.placement) {
      case Placement::kBoundary:
        return boundary_.data() + buffer.offset;
      case Placement::kWeights:
        return weights_.data() + buffer.offset;
      default:
        return own_[index].data();
    }
  }

  std::byte* boundary(std::int64_t offset) { return boundary_.data() + offset; }

 private:
  Bytes make(const ProgramBuffer& buffer) {
    Bytes bytes(
        static_cast<std::size_t>(buffer.rows * buffer.columns * graph::bytes_of(buffer.dtype)),
        std::byte{0x3f});
    if (buffer.placement == Placement::kPrepared) {
      const ProgramBuffer& source = program_.buffers[static_cast<std::size_t>(buffer.source)];
      EXPECT_EQ(static_cast<std::int64_t>(bytes.size()),
                prepared_bytes(buffer.layout, source.rows, source.columns));
      for (int thread = 0; thread < 3; ++thread) {
        pack_weight(buffer.layout, weights_.data() + source.offset, source.dtype, source.rows,
                    source.columns, bytes.data(), thread, 3);
      }
    }
    const bool stored =
        buffer.placement == Placement::kBoundary || buffer.placement == Placement::kWeights;
    return stored ? Bytes{} : bytes;
  }

  const Program& program_;
  Bytes boundary_, weights_;
  std::vector<Bytes> own_;
};

void run_candidate(const ProgramStep& step, const std::vector<TensorArg>& args, void* library,
                   std::uint64_t seed) {
  auto* entry = reinterpret_cast<Entry>(::dlsym(library, step.entry.c_str()));
  ASSERT_NE(entry, nullptr) << step.entry;
  std::vector<FfTensor> tensors;
  for (const TensorArg& arg : args) {
    tensors.push_back({arg.data, static_cast<long>(arg.row_stride)});
  }
  const std::vector<long> dims(step.dims.begin(), step.dims.end());
  const FfArgs call{tensors.data(), dims.data()};
  std::vector<long> order(static_cast<std::size_t>(step.blocks));
  std::iota(order.begin(), order.end(), 0L);
  Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  for (const long block : order) {
    entry(&call, block);
  }
}

}  // namespace

std::string compile(const std::string& source, const std::vector<std::string>& flags) {
  static const ObjectFolder folder;
  static std::map<std::string, std::string> known;
  std::string key = source;
  std::string options;
  for (const std::string& flag : flags) {
    options += " " + flag;
  }
  key += options;
  if (known.contains(key)) {
    return known[key];
  }
  const std::string stem = folder.path() + "/" + digest_of(key).short_hex();
  EXPECT_TRUE(write_file_atomically(stem + ".cc", source).ok());
  const std::string command =
      "g++" + options +
      " -std=c++20 -fPIC -shared -fno-exceptions -fno-rtti -fno-stack-protector"
      " -ffp-contract=fast -fno-math-errno -fno-trapping-math -nostartfiles -w -o " +
      stem + ".so " + stem + ".cc 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  char text[512];
  while (pipe != nullptr && std::fgets(text, sizeof text, pipe) != nullptr) {
    output += text;
  }
  EXPECT_EQ(pipe == nullptr ? -1 : ::pclose(pipe), 0) << output << "\n" << source;
  return known[key] = stem + ".so";
}

Values execute(const graph::Graph& graph, const LowerOptions& options, const Lowered& lowered,
               const std::vector<std::string>& artifacts, const Values& inputs, int threads,
               std::uint64_t seed) {
  Memory memory(graph, options, lowered, inputs);
  std::vector<void*> libraries;
  for (const std::string& path : artifacts) {
    libraries.push_back(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    EXPECT_NE(libraries.back(), nullptr) << ::dlerror();
  }
  for (const ProgramStep& step : lowered.program.steps) {
    std::vector<TensorArg> args;
    for (const TensorRef& ref : step.tensors) {
      const auto index = static_cast<std::size_t>(ref.buffer);
      const ProgramBuffer& buffer = lowered.program.buffers[index];
      args.push_back({memory.buffer(index) + ref.column * graph::bytes_of(buffer.dtype),
                      buffer.dtype, ref.rows, ref.columns, ref.row_stride, buffer.layout});
    }
    if (step.kind == StepKind::kCandidate) {
      run_candidate(step, args, libraries.at(static_cast<std::size_t>(step.artifact)), seed);
      continue;
    }
    const auto kernel = BuiltinKernel::prepare(step.op, step.attrs, args);
    EXPECT_TRUE(kernel.ok()) << kernel.error().message;
    for (int thread = 0; kernel.ok() && thread < threads; ++thread) {
      kernel.value().run(args, thread, threads);
    }
  }
  Values outputs;
  for (const graph::TensorId id : graph.outputs) {
    const graph::Tensor& tensor = graph.tensor(id);
    const std::byte* from = memory.boundary(options.boundary.offset.at(id));
    const auto count = static_cast<std::size_t>(graph::element_count(tensor, options.bindings));
    for (std::size_t i = 0; i < count; ++i) {
      outputs[id].push_back(get(from, i, tensor.dtype));
    }
  }
  for (void* library : libraries) {
    ::dlclose(library);
  }
  return outputs;
}

LowerOptions options_for(const graph::Graph& graph, const graph::Bindings& bindings) {
  LowerOptions options;
  options.bindings = bindings;
  options.boundary = graph::boundary_layout(graph, bindings);
  options.weights = graph::weight_layout(graph, bindings);
  return options;
}

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) {
    return INFINITY;
  }
  double squares = 0;
  for (const double value : b) {
    squares += value * value;
  }
  const double rms = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, b.size())));
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]) / (std::abs(b[i]) + rms + 1e-30);
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  return worst;
}

}  // namespace fusefarm::codegen::test
