#include "engine/scorer.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace crossbill::engine {
namespace {

std::vector<std::size_t> token_counts(std::span<const EncodedPair> pairs) {
  std::vector<std::size_t> counts;
  counts.reserve(pairs.size());
  for (const EncodedPair& pair : pairs) counts.push_back(pair.ids.size());
  return counts;
}

}  // namespace

ChunkBudget ChunkBudget::within(std::size_t memory_budget, int threads, std::size_t max_length,
                                const ForwardPass& pass) {
  ChunkBudget budget;
  if (memory_budget == 0) return budget;
  const auto shares = static_cast<std::size_t>(threads);
  const std::size_t least = pass.arena_bytes(max_length, max_length);
  budget.arena_bytes = memory_budget / shares;
  if (budget.arena_bytes < least) {
    throw Error(ErrorCode::invalid_argument,
                "memory_budget is " + std::to_string(memory_budget) + " bytes; with " +
                    std::to_string(threads) + " threads and max_length " + std::to_string(max_length) +
                    " at least " + std::to_string(least * shares) + " are needed");
  }
  budget.tokens = std::max(kChunkTokens, max_length);
  while (budget.tokens > max_length && pass.arena_bytes(budget.tokens, max_length) > budget.arena_bytes) {
    --budget.tokens;
  }
  return budget;
}

/// A chunk at a time: pack the pairs, run the layers, write the scores to where the pairs came from.
class Scorer::ScoreJob : public Job {
 public:
  ScoreJob(Scorer& scorer, std::span<const EncodedPair> pairs, std::span<Score> scores, const Limits& limits)
      : ScoreJob(scorer, pairs, scores, limits,
                 plan_chunks(token_counts(pairs), scorer.pool_.threads(), scorer.budget_.tokens)) {}

  ~ScoreJob() override { forget_rest(); }

  void run_chunk(std::size_t chunk, Workspace& workspace) override {
    const std::span<const std::size_t> indices = plan_.pairs(chunk);
    PackedBatch& batch = workspace.batch;
    batch.clear();
    for (const std::size_t index : indices) batch.append(pairs_[index]);
    const std::size_t labels = scorer_.labels();
    workspace.logits.resize(indices.size() * labels);
    scorer_.pass_->run(batch, workspace.logits, workspace.arena);

    for (std::size_t p = 0; p < indices.size(); ++p) {
      const float* logits = workspace.logits.data() + p * labels;
      Score& score = scores_[indices[p]];
      score.logits.assign(logits, logits + labels);
      score.values = score.logits;
      scorer_.score_function_.apply(score.values);
      score.tokens = static_cast<std::int32_t>(batch.length(p));
      score.truncated = pairs_[indices[p]].truncated;
    }
    count_done(indices.size(), batch.tokens());
  }

  std::size_t pairs_done() const { return pairs_.size() - left_pairs_; }

 protected:
  /// What a failed job leaves undone is no backlog any more.
  void forget_rest() { count_done(left_pairs_, left_tokens_); }

 private:
  ScoreJob(Scorer& scorer, std::span<const EncodedPair> pairs, std::span<Score> scores, const Limits& limits,
           ChunkPlan plan)
      : Job(plan.chunks(), limits),
        scorer_(scorer),
        pairs_(pairs),
        scores_(scores),
        plan_(std::move(plan)),
        left_pairs_(pairs.size()) {
    std::size_t tokens = 0;
    for (const EncodedPair& pair : pairs) tokens += pair.ids.size();
    left_tokens_ = tokens;
    scorer_.waiting_pairs_ += pairs.size();
    scorer_.waiting_tokens_ += tokens;
  }

  void count_done(std::size_t pairs, std::size_t tokens) {
    left_pairs_ -= pairs;
    left_tokens_ -= tokens;
    scorer_.waiting_pairs_ -= pairs;
    scorer_.waiting_tokens_ -= tokens;
  }

  Scorer& scorer_;
  const std::span<const EncodedPair> pairs_;
  const std::span<Score> scores_;
  const ChunkPlan plan_;
  std::atomic<std::size_t> left_pairs_;
  std::atomic<std::size_t> left_tokens_{0};
};

namespace {

struct SubmittedPairs {
  explicit SubmittedPairs(std::vector<EncodedPair> submitted)
      : pairs(std::move(submitted)), scores(pairs.size()) {}
  std::vector<EncodedPair> pairs;
  std::vector<Score> scores;
};

}  // namespace

/// A job that owns what it works on, as nobody waits for it.
class Scorer::SubmittedJob final : private SubmittedPairs, public Scorer::ScoreJob {
 public:
  SubmittedJob(Scorer& scorer, std::vector<EncodedPair> submitted, const Limits& limits)
      : SubmittedPairs(std::move(submitted)), ScoreJob(scorer, pairs, scores, limits) {}

  std::future<std::vector<Score>> answer() { return promise_.get_future(); }

  void finished(std::exception_ptr error) noexcept override {
    forget_rest();  // first, so that whoever has the answer finds it gone from the backlog
    if (error) {
      promise_.set_exception(std::move(error));
    } else {
      promise_.set_value(std::move(scores));
    }
  }

 private:
  std::promise<std::vector<Score>> promise_;
};

Scorer::Scorer(std::unique_ptr<const ForwardPass> pass, ScoreFunction score_function, PairLimits limits,
               ChunkBudget budget, int threads)
    : pass_(std::move(pass)),
      score_function_(score_function),
      limits_(limits),
      budget_(budget),
      pool_(threads) {}

void Scorer::check(const EncodedPair& pair) const {
  limits_.check(pair);
  const std::size_t tokens = pair.ids.size();
  const std::size_t bytes = pass_->arena_bytes(tokens, tokens);
  if (bytes > budget_.arena_bytes) {
    throw Error(ErrorCode::invalid_argument,
                "it has " + std::to_string(tokens) + " tokens, which take " + std::to_string(bytes) +
                    " bytes; memory_budget leaves each thread " + std::to_string(budget_.arena_bytes));
  }
}

void Scorer::check(std::span<const EncodedPair> pairs) const {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    try {
      check(pairs[i]);
    } catch (const Error& error) {
      throw error_at("pair", i, error);
    }
  }
}

void Scorer::score(std::span<const EncodedPair> pairs, std::span<Score> scores, const Limits& limits,
                   const std::function<void(std::size_t)>& pulse) {
  const auto job = std::make_shared<ScoreJob>(*this, pairs, scores, limits);
  ThreadPool::Pulse report;
  if (pulse) report = [&] { pulse(job->pairs_done()); };
  pool_.run(job, report);
}

std::future<std::vector<Score>> Scorer::submit(std::vector<EncodedPair> pairs, const Limits& limits) {
  check(std::span<const EncodedPair>(pairs));
  const auto job = std::make_shared<SubmittedJob>(*this, std::move(pairs), limits);
  auto answer = job->answer();
  pool_.post(job);
  return answer;
}

Backlog Scorer::backlog() const noexcept {
  return {waiting_pairs_.load(std::memory_order_relaxed), waiting_tokens_.load(std::memory_order_relaxed)};
}

}  // namespace crossbill::engine
