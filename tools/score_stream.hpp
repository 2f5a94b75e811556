// Scores a stream of pairs in windows: constant memory, input order, and no waiting for a full window.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "tools/pair_reader.hpp"
#include "tools/progress_bar.hpp"
#include "tools/standard_output.hpp"

namespace crossbill::tools {

struct ScoreStreamSettings {
  bool json = false;      ///< score_as_json instead of score_as_text
  bool skip_bad = false;  ///< a bad line gives an empty line (JSON: null) instead of ending the run
};

struct ScoreStreamSummary {
  std::size_t pairs = 0;      ///< scored
  std::size_t truncated = 0;  ///< of them, shortened to fit
  std::size_t bad = 0;        ///< lines skipped
  std::string first_bad;      ///< FILE:LINE: why
};

/// A window ends when it is full, when the reader would have to wait, or at a bad line. Its lines are written
/// and flushed before the next one is read. Windows begin small and grow while they take little time, so that
/// an interrupted run loses little and a long one keeps all threads busy; scores don't depend on them.
class ScoreStream {
 public:
  ScoreStream(const Reranker& reranker, PairReader& pairs, StandardOutput& output,
              ScoreStreamSettings settings, std::stop_token stop)
      : reranker_(reranker), pairs_(pairs), output_(output), settings_(settings), stop_(std::move(stop)) {}

  /// Until the end of the input. The first bad line is an InputError once everything before it is written.
  void run();

  const ScoreStreamSummary& summary() const { return summary_; }

 private:
  bool fill_window();
  void note_bad(const PairRecord& record);
  void score_window();
  std::vector<Score> score_pairs();
  std::vector<Score> score_pairs_that_fit();
  void show_progress(double share_of_window, std::size_t done);

  const Reranker& reranker_;
  PairReader& pairs_;
  StandardOutput& output_;
  ScoreStreamSettings settings_;
  std::stop_token stop_;
  ProgressBar progress_{"pairs"};
  ScoreStreamSummary summary_;
  std::vector<PairRecord> window_;
  std::size_t window_limit_ = 32;
  std::uint64_t bytes_before_window_ = 0;
  std::string failure_;  // why the run ends after this window
};

}  // namespace crossbill::tools
