#include "codegen/buffer_reuse.h"

#include <algorithm>
#include <cstddef>

namespace fusefarm::codegen {
namespace {

struct Life {
  std::size_t first = 0, last = 0;
  bool used = false;
};

std::vector<Life> lives_of(const Program& program) {
  std::vector<Life> lives(program.buffers.size());
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    for (const TensorRef& ref : program.steps[step].tensors) {
      Life& life = lives[static_cast<std::size_t>(ref.buffer)];
      life.first = life.used ? life.first : step;
      life.last = step;
      life.used = true;
    }
  }
  // The source of a prepared buffer is read at load.
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.placement == Placement::kPrepared) {
      lives[static_cast<std::size_t>(buffer.source)].used = true;
    }
  }
  return lives;
}

bool same_shape(const ProgramBuffer& a, const ProgramBuffer& b) {
  return a.dtype == b.dtype && a.rows == b.rows && a.columns == b.columns;
}

}  // namespace

std::vector<std::int32_t> reuse_private_buffers(Program& program) {
  const std::vector<Life> lives = lives_of(program);
  std::vector<std::int32_t> renumbered(program.buffers.size(), -1);
  std::vector<ProgramBuffer> kept;
  std::vector<std::size_t> busy_until;  // per kept buffer; last step that uses it
  std::vector<std::size_t> order(program.buffers.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const bool is_private = program.buffers[i].placement == Placement::kPrivate;
    return is_private ? lives[i].first + 1 : 0;  // shared memory first, in its order
  });
  for (const std::size_t i : order) {
    const ProgramBuffer& buffer = program.buffers[i];
    const bool is_private = buffer.placement == Placement::kPrivate;
    const bool needed = lives[i].used || buffer.placement == Placement::kBoundary;
    std::size_t place = kept.size();
    for (std::size_t k = 0; is_private && needed && k < kept.size(); ++k) {
      if (kept[k].placement == Placement::kPrivate && same_shape(kept[k], buffer) &&
          busy_until[k] < lives[i].first) {
        place = k;
        break;
      }
    }
    if (!needed) {
      continue;
    }
    if (place == kept.size()) {
      kept.push_back(buffer);
      busy_until.push_back(0);
    }
    busy_until[place] = lives[i].last;
    renumbered[i] = static_cast<std::int32_t>(place);
  }
  for (ProgramBuffer& buffer : kept) {
    if (buffer.source >= 0) {
      buffer.source = renumbered[static_cast<std::size_t>(buffer.source)];
    }
  }
  for (ProgramStep& step : program.steps) {
    for (TensorRef& ref : step.tensors) {
      ref.buffer = renumbered[static_cast<std::size_t>(ref.buffer)];
    }
  }
  program.buffers = std::move(kept);
  return renumbered;
}

}  // namespace fusefarm::codegen
