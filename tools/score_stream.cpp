// Scores a stream of pairs in windows: constant memory, input order, and no waiting for a full window.
#include "tools/score_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tools/failures.hpp"
#include "tools/score_format.hpp"
#include "tools/terminal.hpp"

namespace crossbill::tools {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostPairs = 4096;
constexpr std::size_t kMostBytes = std::size_t{8} << 20;
// A window that was full and took less than this lets the next one be twice as large.
constexpr auto kShortWindow = 300ms;
// A writer gets this long to send the next line before we score what there is.
constexpr auto kPatience = 5ms;

}  // namespace

void ScoreStream::run() {
  bool more = true;
  while (more && failure_.empty()) {
    more = fill_window();
    score_window();
  }
  if (!failure_.empty()) throw InputError(failure_);
}

// Returns whether there may be more behind this window.
bool ScoreStream::fill_window() {
  window_.clear();
  bytes_before_window_ = pairs_.lines().input().consumed();
  std::size_t bytes = 0;
  while (window_.size() < window_limit_ && bytes < kMostBytes) {
    PairRecord record;
    try {
      if (!window_.empty() && !pairs_.ready(kPatience)) return true;
      if (!pairs_.next(record)) return false;
    } catch (const InputError& fault) {
      failure_ = fault.what();
      return false;
    }
    if (!record.fault.empty()) {
      note_bad(record);
      if (!settings_.skip_bad) return false;
    }
    bytes += record.query.size() + record.passage.size();
    window_.push_back(std::move(record));
  }
  return true;
}

void ScoreStream::note_bad(const PairRecord& record) {
  const std::string sentence = pairs_.lines().place(record.line) + ": " + record.fault;
  if (!settings_.skip_bad) {
    failure_ = sentence;
    return;
  }
  if (++summary_.bad == 1) summary_.first_bad = sentence;
}

void ScoreStream::score_window() {
  const Clock::time_point begin = Clock::now();
  const bool full = window_.size() >= window_limit_;
  const std::vector<Score> scores = score_pairs();
  std::size_t next = 0;
  for (const PairRecord& record : window_) {
    if (!record.fault.empty()) {
      output_.line(settings_.json ? "null" : "");
      continue;
    }
    const Score& score = scores[next++];
    output_.line(settings_.json ? score_as_json(score, reranker_.info().labels) : score_as_text(score));
    summary_.truncated += score.truncated ? 1 : 0;
  }
  summary_.pairs += scores.size();
  if (output_is_terminal()) progress_.clear();
  output_.flush();
  show_progress(1, 0);
  if (full && Clock::now() - begin < kShortWindow) window_limit_ = std::min(2 * window_limit_, kMostPairs);
}

// One Score for each record of the window without a fault.
std::vector<Score> ScoreStream::score_pairs() {
  std::vector<Pair> pairs;
  for (const PairRecord& record : window_) {
    if (record.fault.empty()) pairs.push_back({record.query, record.passage});
  }
  if (pairs.empty()) return {};
  CallOptions call;
  call.stop = stop_;
  call.progress = [this](std::size_t done, std::size_t total) {
    show_progress(static_cast<double>(done) / static_cast<double>(total), done);
  };
  try {
    return reranker_.score(pairs, call);
  } catch (const Error& fault) {
    if (fault.code() != ErrorCode::input_too_long) throw;
  }
  return score_pairs_that_fit();
}

// The library refuses a call for one pair that is too long; here it is that pair's fault alone.
std::vector<Score> ScoreStream::score_pairs_that_fit() {
  std::vector<EncodedPair> encoded;
  for (std::size_t i = 0; i < window_.size(); ++i) {
    PairRecord& record = window_[i];
    if (!record.fault.empty()) continue;
    try {
      encoded.push_back(reranker_.encode(record.query, record.passage));
    } catch (const Error& fault) {
      if (fault.code() != ErrorCode::input_too_long) throw;
      record.fault = fault.what();
      note_bad(record);
      if (settings_.skip_bad) continue;
      window_.resize(i);
      break;
    }
  }
  if (encoded.empty()) return {};
  CallOptions call;
  call.stop = stop_;
  return reranker_.score(encoded, call);
}

void ScoreStream::show_progress(double share_of_window, std::size_t done) {
  std::optional<double> share;
  const TextInput& input = pairs_.lines().input();
  if (input.size() && *input.size() > 0) {
    const auto before = static_cast<double>(bytes_before_window_);
    const auto after = static_cast<double>(input.consumed());
    const double bytes = before + (after - before) * share_of_window;
    share = std::min(1.0, bytes / static_cast<double>(*input.size()));
  }
  progress_.update(share, summary_.pairs + done);
}

}  // namespace crossbill::tools
