// The budget ledger in device-seconds. It is charged with recorded costs only, so a replay of the
// store's records takes the same decisions as the run that made them.
#pragma once

#include <map>
#include <string>

namespace fusefarm::search {

class BudgetLedger {
 public:
  // `total_seconds` 0: unlimited. `reserve_seconds` is kept back for what must come last (the
  // end-to- end test): affords() never grants it.
  explicit BudgetLedger(double total_seconds, double reserve_seconds = 0);

  void charge(const std::string& account, double seconds);

  bool limited() const { return total_ > 0; }

  double total() const { return total_; }

  double spent() const { return spent_; }

  double spent(const std::string& account) const;
  // What may still be granted, the reserve left out; infinity without a limit.
  double remaining() const;
  // The same, the reserve included.
  double remaining_with_reserve() const;

  bool affords(double seconds) const { return seconds <= remaining(); }

  void set_reserve(double seconds) { reserve_ = seconds; }

 private:
  double total_;
  double reserve_;
  double spent_ = 0;
  std::map<std::string, double> accounts_;
};

// What a candidate's screen should take: compile and check, then some dozens of launches.
inline double predicted_screen_seconds(double region_seconds) { return 0.5 + 40 * region_seconds; }

// A running mean that forgets: what a kind of job has cost lately.
class CostEstimate {
 public:
  explicit CostEstimate(double first_guess) : seconds_(first_guess) {}

  void observe(double seconds);

  double seconds() const { return seconds_; }

 private:
  double seconds_;
  int observed_ = 0;
};

}  // namespace fusefarm::search
