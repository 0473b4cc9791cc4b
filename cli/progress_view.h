// Campaign progress on stderr: a bar on a terminal, lines elsewhere.
#pragma once

#include <cstdio>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "coordinator/progress.h"

namespace fusefarm::cli {

enum class ProgressMode { kBar, kPlain, kNone };

// auto | bar | plain | none; auto: a bar when stderr is a terminal.
Result<ProgressMode> progress_mode_from(const std::string& name, bool terminal);

class ProgressView final : public coordinator::ProgressSink {
 public:
  // Borrowed: `out`, `clock`.
  ProgressView(ProgressMode mode, std::FILE* out, const Clock& clock);
  ~ProgressView() override;
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;

  void on_progress(const coordinator::Progress& progress) override;

 private:
  void draw(const coordinator::Progress& progress);
  void erase();
  double elapsed() const;

  ProgressMode mode_;
  std::FILE* out_;
  const Clock& clock_;
  TimePoint start_;
  bool drawn_ = false;
};

// One line of the bar, at most `width` characters.
std::string bar_line(const coordinator::Progress& progress, double elapsed_seconds,
                     std::size_t width);

}  // namespace fusefarm::cli
