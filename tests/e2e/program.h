// Runs the built `fusefarm` as an operator would.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace fusefarm::e2e {

struct Ended {
  int exit_code = -1;  // -1: killed by a signal or by the time limit
  std::string out, err;
};

// A running program; its output goes to files in `folder`.
class Program {
 public:
  Program(std::vector<std::string> arguments, const std::string& folder);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  // Waits at most `seconds`, then kills it.
  Ended wait(double seconds);
  std::string errors_so_far() const;

 private:
  pid_t pid_ = -1;
  std::string out_path_, err_path_;
};

// fusefarm ARGUMENTS, to its end.
Ended fusefarm(const std::vector<std::string>& arguments, const std::string& folder,
               double seconds = 240);

// Whether any process of this user has `needle` in its command line.
bool process_with(const std::string& needle);

}  // namespace fusefarm::e2e
