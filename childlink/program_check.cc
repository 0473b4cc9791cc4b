#include <algorithm>
#include <cctype>

#include "childlink/program_codec.h"

namespace fusefarm::childlink {
namespace {

constexpr std::int64_t kExtentMax = std::int64_t{1} << 30;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 40;

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program) {}

  Result<void> run() {
    if (program_.sets < 1 || program_.sets > (1 << 16) || program_.set_bytes < 0 ||
        program_.set_bytes > kBytesMax / program_.sets || program_.weight_bytes < 0 ||
        program_.weight_bytes > kBytesMax) {
      return bad("sizes of the program are out of range");
    }
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      where_ = "program buffer " + std::to_string(i) + " '" + program_.buffers[i].name + "'";
      TRY(check_buffer(program_.buffers[i]));
    }
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      where_ = "program step " + std::to_string(i);
      TRY(check_step(program_.steps[i]));
    }
    return {};
  }

 private:
  Error bad(const std::string& why) const {
    return {ErrorCode::kInvalidArgument, where_.empty() ? why : where_ + ": " + why};
  }

  static bool inside(const ProgramBuffer& buffer, std::int64_t bytes) {
    const std::int64_t own = buffer.rows * buffer.columns * graph::bytes_of(buffer.dtype);
    return buffer.offset >= 0 && buffer.offset <= bytes && own <= bytes - buffer.offset;
  }

  Result<void> check_buffer(const ProgramBuffer& buffer) const {
    if (buffer.rows < 0 || buffer.columns < 0 || buffer.rows > kExtentMax ||
        buffer.columns > kExtentMax || buffer.copies < 1 || buffer.copies > 256) {
      return bad("extents or copies are out of range");
    }
    const std::int64_t row_bytes = buffer.columns * graph::bytes_of(buffer.dtype);
    if (row_bytes > 0 && buffer.rows > kBytesMax / row_bytes) {
      return bad("is too large");
    }
    switch (buffer.placement) {
      case Placement::kBoundary:
        return inside(buffer, program_.set_bytes) ? Result<void>{} : bad("leaves its launch set");
      case Placement::kWeights:
        return inside(buffer, program_.weight_bytes) ? Result<void>{} : bad("leaves the weights");
      case Placement::kPrivate:
        return {};
      case Placement::kPrepared:
        return check_prepared(buffer);
    }
    return bad("has no placement");
  }

  Result<void> check_prepared(const ProgramBuffer& buffer) const {
    const auto index = static_cast<std::size_t>(buffer.source);
    if (buffer.source < 0 || index >= program_.buffers.size() ||
        program_.buffers[index].placement != Placement::kWeights) {
      return bad("is prepared from no weight");
    }
    if (buffer.layout.panel < 0 || buffer.layout.panel > 4096) {
      return bad("has a panel out of range");
    }
    return {};
  }

  Result<void> check_step(const ProgramStep& step) const {
    if (step.tensors.size() > 64 || step.dims.size() > 64 || step.blocks < 0) {
      return bad("has too many arguments");
    }
    for (const TensorRef& ref : step.tensors) {
      TRY(check_ref(ref));
    }
    if (step.kind == StepKind::kBuiltin) {
      return {};
    }
    if (step.artifact < 0 || static_cast<std::size_t>(step.artifact) >= program_.artifacts.size()) {
      return bad("names no artifact");
    }
    const auto word = [](char c) {
      return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    };
    if (step.entry.empty() || step.entry.size() > 256 || !std::ranges::all_of(step.entry, word) ||
        std::isdigit(static_cast<unsigned char>(step.entry.front())) != 0) {
      return bad("entry '" + step.entry + "' is no C identifier");
    }
    return {};
  }

  Result<void> check_ref(const TensorRef& ref) const {
    if (ref.buffer < 0 || static_cast<std::size_t>(ref.buffer) >= program_.buffers.size()) {
      return bad("a tensor refers to no buffer");
    }
    const ProgramBuffer& buffer = program_.buffers[static_cast<std::size_t>(ref.buffer)];
    if (ref.rows < 0 || ref.columns < 0 || ref.column < 0 || ref.row_stride < 0 ||
        ref.rows > kExtentMax || ref.columns > kExtentMax || ref.column > kExtentMax ||
        ref.row_stride > kExtentMax) {
      return bad("a view has extents out of range");
    }
    if (ref.rows == 0 || ref.columns == 0) {
      return {};
    }
    // Below 2^61: extents are below 2^30.
    const std::int64_t end = ((ref.rows - 1) * ref.row_stride) + ref.column + ref.columns;
    if (end > buffer.rows * buffer.columns) {
      return bad("a view leaves its buffer '" + buffer.name + "'");
    }
    return {};
  }

  const Program& program_;
  std::string where_;
};

}  // namespace

Result<void> check_program(const Program& program) { return Checker(program).run(); }

}  // namespace fusefarm::childlink
