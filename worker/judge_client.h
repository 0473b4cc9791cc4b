// The worker's end of its judge (fusefarm-judge): a trusted child that holds oracles and compares.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "childlink/channel.h"
#include "childlink/judge_messages.h"
#include "worker/child_process.h"

namespace fusefarm::worker {

// One request at a time; every call waits for its answer. Errors are infrastructure's, never a
// candidate's.
class JudgeClient {
 public:
  static Result<JudgeClient> start(const std::string& program_folder, const Clock& clock);

  Result<void> open_model(const childlink::OpenModel& model, int weights_fd);
  Result<std::int64_t> open_pool(const childlink::OpenPool& pool, int pool_fd, int boundary_fd);
  Result<void> prepare(std::int64_t pool, const std::vector<int>& entries);
  Result<childlink::Compared> compare(std::int64_t pool, std::int64_t set, int entry);
  Result<childlink::ModelCompared> compare_model(const childlink::CompareModel& request);
  Result<void> close_pool(std::int64_t pool);

 private:
  JudgeClient(ChildProcess process, childlink::Channel channel)
      : process_(std::move(process)), channel_(std::move(channel)) {}

  Result<childlink::JudgeReply> ask(const childlink::JudgeRequest& request,
                                    std::span<const int> fds);
  template <class Reply>
  Result<Reply> expect(const childlink::JudgeRequest& request, std::span<const int> fds);

  ChildProcess process_;
  childlink::Channel channel_;
};

}  // namespace fusefarm::worker
