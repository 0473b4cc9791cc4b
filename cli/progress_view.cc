#include "cli/progress_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/ioctl.h>

namespace fusefarm::cli {
namespace {

constexpr std::size_t kWidthDefault = 100;
constexpr int kBarCells = 20;

std::size_t terminal_width(std::FILE* out) {
  winsize size{};
  if (::ioctl(::fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kWidthDefault;
  }
  return size.ws_col;
}

}  // namespace

Result<ProgressMode> progress_mode_from(const std::string& name, bool terminal) {
  if (name == "auto") {
    return terminal ? ProgressMode::kBar : ProgressMode::kPlain;
  }
  if (name == "bar") {
    return ProgressMode::kBar;
  }
  if (name == "plain") {
    return ProgressMode::kPlain;
  }
  if (name == "none") {
    return ProgressMode::kNone;
  }
  return Error{ErrorCode::kInvalidArgument,
               "--progress '" + name + "' is not one of auto, bar, plain, none"};
}

std::string bar_line(const coordinator::Progress& progress, double elapsed_seconds,
                     std::size_t width) {
  std::string line;
  if (progress.budget_seconds > 0) {
    const double share = std::clamp(progress.spent_seconds / progress.budget_seconds, 0.0, 1.0);
    const int full = static_cast<int>(share * kBarCells);
    line = "[" + std::string(static_cast<std::size_t>(full), '#') +
           std::string(static_cast<std::size_t>(kBarCells - full), '.') + "] ";
  }
  line += fmt::format("{:.0f}s  {} experiments, {} rewrites  {}", elapsed_seconds,
                      progress.experiments, progress.rewrites, progress.text);
  if (line.size() > width) {
    line.resize(width);
  }
  return line;
}

ProgressView::ProgressView(ProgressMode mode, std::FILE* out, const Clock& clock)
    : mode_(mode), out_(out), clock_(clock), start_(clock.now()) {}

ProgressView::~ProgressView() { erase(); }

double ProgressView::elapsed() const { return seconds(clock_.now() - start_); }

void ProgressView::erase() {
  if (!drawn_) {
    return;
  }
  std::fputs("\r\033[K", out_);
  std::fflush(out_);
  drawn_ = false;
}

void ProgressView::draw(const coordinator::Progress& progress) {
  erase();
  const std::string line = bar_line(progress, elapsed(), terminal_width(out_) - 1);
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
  drawn_ = true;
}

void ProgressView::on_progress(const coordinator::Progress& progress) {
  if (mode_ == ProgressMode::kNone) {
    return;
  }
  if (progress.milestone) {
    erase();
    std::fputs(fmt::format("{:6.1f}s  {}\n", elapsed(), progress.text).c_str(), out_);
    std::fflush(out_);
  }
  if (mode_ == ProgressMode::kBar && progress.stage != "done") {
    draw(progress);
  }
}

}  // namespace fusefarm::cli
