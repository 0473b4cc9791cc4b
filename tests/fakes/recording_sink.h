// Keeps what a campaign said.
#pragma once

#include <vector>

#include "coordinator/progress.h"

namespace fusefarm::fakes {

class RecordingSink final : public coordinator::ProgressSink {
 public:
  void on_progress(const coordinator::Progress& progress) override { said.push_back(progress); }

  std::vector<coordinator::Progress> said;
};

}  // namespace fusefarm::fakes
