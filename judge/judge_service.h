// Answers one worker's requests, one at a time. Loads no candidate, reads no clock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "childlink/judge_messages.h"
#include "judge/oracle_pool.h"

namespace fusefarm::judge {

class JudgeService {
 public:
  // Never fails as a whole: what goes wrong is the answer Failed. The descriptors that the request
  // needs come in the order that judge_messages.h gives.
  childlink::JudgeReply handle(const childlink::JudgeRequest& request,
                               const std::vector<UniqueFd>& fds);

 private:
  Result<childlink::JudgeReply> answer(const childlink::OpenModel& request,
                                       const std::vector<UniqueFd>& fds);
  Result<childlink::JudgeReply> answer(const childlink::OpenPool& request,
                                       const std::vector<UniqueFd>& fds);
  Result<childlink::JudgeReply> answer(const childlink::Prepare& request,
                                       const std::vector<UniqueFd>& fds);
  Result<childlink::JudgeReply> answer(const childlink::Compare& request,
                                       const std::vector<UniqueFd>& fds);
  Result<childlink::JudgeReply> answer(const childlink::CompareModel& request,
                                       const std::vector<UniqueFd>& fds);
  Result<childlink::JudgeReply> answer(const childlink::ClosePool& request,
                                       const std::vector<UniqueFd>& fds);
  Result<OraclePool*> pool(std::int64_t number);

  std::unique_ptr<ModelWeights> weights_;  // its address is borrowed by the pools
  std::map<std::int64_t, OraclePool> pools_;
  std::int64_t next_pool_ = 0;
};

}  // namespace fusefarm::judge
