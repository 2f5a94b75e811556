#include "engine/text_scoring.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "engine/job.hpp"
#include "engine/progress_report.hpp"

namespace crossbill::engine {
namespace {

/// Text that one thread encodes before it looks at the clock: about a millisecond's worth.
constexpr std::size_t kEncodeBytes = 16 * 1024;
/// However short they are, no more texts than this.
constexpr std::size_t kEncodeTexts = 256;

/// English has four to five bytes a token; texts of one-byte tokens make a window four times as large, no
/// more.
std::size_t estimated_tokens(const TextSource& source, std::size_t number, std::size_t max_length) {
  return std::min(max_length, 3 + source.shared_tokens + source.bytes(number) / 4);
}

/// Encodes the texts first … first + pairs.size(); a chunk is a run of neighbours.
class EncodeJob final : public Job {
 public:
  EncodeJob(const Scorer& scorer, const TextSource& source, std::size_t first, std::span<EncodedPair> pairs,
            const Limits& limits)
      : EncodeJob(scorer, source, first, pairs, limits, runs(source, first, pairs.size())) {}

  void run_chunk(std::size_t chunk, Workspace& /*workspace*/) override {
    for (std::size_t i = starts_[chunk]; i < starts_[chunk + 1]; ++i) {
      try {
        pairs_[i] = source_.encode(first_ + i);
        scorer_.check(pairs_[i]);
      } catch (const Error& error) {
        throw error_at(source_.noun, first_ + i, error);
      }
    }
  }

 private:
  EncodeJob(const Scorer& scorer, const TextSource& source, std::size_t first, std::span<EncodedPair> pairs,
            const Limits& limits, std::vector<std::size_t> starts)
      : Job(starts.size() - 1, limits),
        scorer_(scorer),
        source_(source),
        first_(first),
        pairs_(pairs),
        starts_(std::move(starts)) {}

  static std::vector<std::size_t> runs(const TextSource& source, std::size_t first, std::size_t count) {
    std::vector<std::size_t> starts = {0};
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (bytes > kEncodeBytes || i - starts.back() == kEncodeTexts) {
        starts.push_back(i);
        bytes = 0;
      }
      bytes += source.bytes(first + i);
    }
    starts.push_back(count);
    return starts;
  }

  const Scorer& scorer_;
  const TextSource& source_;
  const std::size_t first_;
  const std::span<EncodedPair> pairs_;
  const std::vector<std::size_t> starts_;
};

/// The first text that no longer fits into the window that begins at `first`.
std::size_t window_end(const TextSource& source, std::size_t first, std::size_t max_length) {
  std::size_t tokens = 0;
  std::size_t end = first;
  while (end < source.count) {
    tokens += estimated_tokens(source, end, max_length);
    if (tokens > kWindowTokens && end > first) break;
    ++end;
  }
  return end;
}

}  // namespace

std::vector<Score> score_texts(Scorer& scorer, const TextSource& source, std::size_t max_length,
                               const CallOptions& options) {
  const Limits limits{options.stop, options.deadline};
  ProgressReport progress(options.progress, source.count);
  std::vector<Score> scores(source.count);
  std::vector<EncodedPair> pairs;
  for (std::size_t first = 0; first < source.count;) {
    const std::size_t end = window_end(source, first, max_length);
    pairs.clear();
    pairs.resize(end - first);
    ThreadPool::Pulse encoding;
    std::function<void(std::size_t)> scoring;
    if (options.progress) {
      encoding = [&] { progress.update(first); };
      scoring = [&](std::size_t done) { progress.update(first + done); };
    }
    scorer.pool().run(std::make_shared<EncodeJob>(scorer, source, first, pairs, limits), encoding);
    scorer.score(pairs, std::span(scores).subspan(first, end - first), limits, scoring);
    first = end;
    progress.update(first);
  }
  progress.finish();
  return scores;
}

}  // namespace crossbill::engine
