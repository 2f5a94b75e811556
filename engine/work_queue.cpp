#include "crossbill/work_queue.hpp"

#include <utility>

#include "engine/scorer.hpp"

namespace crossbill {

std::future<std::vector<Score>> WorkQueue::submit(std::vector<EncodedPair> pairs,
                                                  const SubmitOptions& options) {
  return scorer_.submit(std::move(pairs), {options.stop, options.deadline});
}

Backlog WorkQueue::backlog() const noexcept {
  return scorer_.backlog();
}

}  // namespace crossbill
