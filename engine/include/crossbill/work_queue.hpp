// The queue below Reranker::score and rank, for programs that answer many requests at once.
//
//   std::future<std::vector<crossbill::Score>> answer =
//       reranker.queue().submit({reranker.encode(query, passage)}, {.stop = client_gone.get_token()});
#pragma once

#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <stop_token>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "crossbill/encoding.hpp"
#include "crossbill/visibility.hpp"

namespace crossbill {

namespace engine {
class Scorer;
}

/// When submitted work should end early; both are looked at between chunks of about 512 tokens.
struct SubmitOptions {
  std::stop_token stop;                                           ///< Error cancelled
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< Error deadline_exceeded
};

/// Work that was asked for and isn't done, that of score() and rank() included: what a server looks at before
/// it takes on more.
struct Backlog {
  std::size_t pairs = 0;
  std::size_t tokens = 0;
};

/// All requests of one Reranker share its threads: each gets one chunk in turn, so that a short request
/// doesn't wait for a long one to end. Methods may be called from any number of threads at once.
class CROSSBILL_API WorkQueue {
 public:
  /// Returns at once; the future gives one Score per pair in input order, or throws the Error. Pairs that the
  /// model can't take (see Reranker::score) are Error invalid_argument from submit itself. Work that has not
  /// begun when the Reranker is destroyed ends with Error cancelled. The calling thread doesn't compute, so
  /// even a Reranker of one thread starts one here.
  std::future<std::vector<Score>> submit(std::vector<EncodedPair> pairs, const SubmitOptions& options = {});

  Backlog backlog() const noexcept;

  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

 private:
  friend class Reranker;
  explicit WorkQueue(engine::Scorer& scorer) noexcept : scorer_(scorer) {}
  engine::Scorer& scorer_;
};

}  // namespace crossbill
