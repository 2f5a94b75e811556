// A line on the terminal that says how far long work has come.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace crossbill::tools {

/// What there is to say at one moment.
struct ProgressState {
  std::optional<double> share;  ///< of the whole, in [0, 1]; absent where the whole is not known
  std::size_t done = 0;         ///< units finished
  double seconds = 0;           ///< since the beginning
};

/// "  42 % ████████▌            12,345 pairs  1,234/s  0:42 left", at most `width` columns.
std::string progress_line(const ProgressState& state, const std::string& unit, std::size_t width, bool utf8);

/// Shows itself on standard error once work has taken two seconds, if that is a terminal; else it does
/// nothing.
class ProgressBar {
 public:
  /// `unit` in the plural, for example "pairs".
  explicit ProgressBar(std::string unit);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::optional<double> share, std::size_t done);
  /// Wipes the line, so that other text may be written; the next update brings it back.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string unit_;
  bool enabled_;
  bool visible_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;
};

}  // namespace crossbill::tools
