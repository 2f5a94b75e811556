// Encoded pairs in, scores out: chunks of pairs go through the forward pass on the threads of a pool.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "crossbill/work_queue.hpp"
#include "engine/chunks.hpp"
#include "engine/forward_pass.hpp"
#include "engine/job.hpp"
#include "engine/pair_limits.hpp"
#include "engine/score_function.hpp"
#include "engine/thread_pool.hpp"

namespace crossbill::engine {

/// How large a chunk may be, so that the activations of all threads together keep within a budget.
struct ChunkBudget {
  std::size_t tokens = kChunkTokens;          ///< of a chunk with more than one pair
  std::size_t arena_bytes = std::size_t(-1);  ///< of one thread

  /// `memory_budget` in bytes, 0 for none. Error invalid_argument with the least that works if `threads`
  /// pairs of `max_length` tokens don't fit.
  static ChunkBudget within(std::size_t memory_budget, int threads, std::size_t max_length,
                            const ForwardPass& pass);
};

/// Methods may be called from any number of threads at once.
class Scorer {
 public:
  Scorer(std::unique_ptr<const ForwardPass> pass, ScoreFunction score_function, PairLimits limits,
         ChunkBudget budget, int threads);

  /// Error invalid_argument if the pair can't be scored: see PairLimits, or too long for the memory budget.
  void check(const EncodedPair& pair) const;
  /// The same for many; the error begins with "pair 17: ".
  void check(std::span<const EncodedPair> pairs) const;

  /// scores[i] becomes that of pairs[i]; all of them have been checked. Blocks; the calling thread works too.
  /// `pulse` gets the number of pairs done so far, see ThreadPool::run.
  void score(std::span<const EncodedPair> pairs, std::span<Score> scores, const Limits& limits,
             const std::function<void(std::size_t)>& pulse = {});

  /// See WorkQueue::submit.
  std::future<std::vector<Score>> submit(std::vector<EncodedPair> pairs, const Limits& limits);

  Backlog backlog() const noexcept;
  std::size_t labels() const { return pass_->labels(); }
  ThreadPool& pool() { return pool_; }

 private:
  class ScoreJob;
  class SubmittedJob;

  std::unique_ptr<const ForwardPass> pass_;
  ScoreFunction score_function_;
  PairLimits limits_;
  ChunkBudget budget_;
  std::atomic<std::size_t> waiting_pairs_{0};
  std::atomic<std::size_t> waiting_tokens_{0};
  ThreadPool pool_;  // last, so that its threads end before what they use
};

}  // namespace crossbill::engine
