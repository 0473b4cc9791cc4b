// What a running campaign tells people. Never read back by the search.
#pragma once

#include <cstdint>
#include <string>

namespace fusefarm::coordinator {

struct Progress {
  std::string stage;  // profile | select | screen | confirm | integrate | end_to_end | done
  int phase = 0;
  std::string text;                              // one line
  bool milestone = false;                        // worth a line of its own in a log
  double spent_seconds = 0, budget_seconds = 0;  // budget 0: unlimited
  std::int64_t experiments = 0;                  // with an outcome, reused ones included
  int rewrites = 0;
};

// Called on the coordinator's thread, between slots of a timing device, never on a timer.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void on_progress(const Progress& progress) = 0;
};

}  // namespace fusefarm::coordinator
