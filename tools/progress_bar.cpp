// A line on the terminal that says how far long work has come.
#include "tools/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "tools/number_format.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"

namespace crossbill::tools {
namespace {

using namespace std::chrono_literals;

constexpr auto kShowAfter = 2s;
constexpr auto kRedrawAfter = 100ms;
constexpr std::size_t kBarCells = 24;

std::string two_digits(std::uint64_t value) {
  return std::to_string(value + 100).substr(1);
}

// "0:42", "12:05", "2:01:05".
std::string clock_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  const std::string tail = two_digits(whole % 60);
  if (whole < 3600) return std::to_string(whole / 60) + ':' + tail;
  return std::to_string(whole / 3600) + ':' + two_digits(whole / 60 % 60) + ':' + tail;
}

}  // namespace

std::string progress_line(const ProgressState& state, const std::string& unit, std::size_t width, bool utf8) {
  std::string line;
  if (state.share) {
    const std::string filled = bar(*state.share, kBarCells, utf8);
    const std::string percent = fixed(std::floor(*state.share * 100), 0);
    line += std::string(4 - std::min<std::size_t>(4, percent.size()), ' ') + percent + " % " + filled;
    line.append(kBarCells - std::min(kBarCells, display_width(filled)) + 2, ' ');
  }
  line += grouped(state.done) + " " + unit;
  if (state.seconds > 0 && state.done > 0) {
    const double rate = static_cast<double>(state.done) / state.seconds;
    line += "  " + (rate < 10 ? fixed(rate, 1) : grouped(static_cast<std::uint64_t>(rate))) + "/s";
    if (state.share && *state.share > 0) {
      line += "  " + clock_time(state.seconds * (1 - *state.share) / *state.share) + " left";
    }
  }
  return clipped(line, width, utf8);
}

ProgressBar::ProgressBar(std::string unit) : unit_(std::move(unit)), enabled_(errors_are_terminal()) {}

void ProgressBar::update(std::optional<double> share, std::size_t done) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now - begin_ < kShowAfter || (visible_ && now - drawn_ < kRedrawAfter)) return;
  drawn_ = now;
  visible_ = true;
  const ProgressState state = {share, done, std::chrono::duration<double>(now - begin_).count()};
  const std::string line = progress_line(state, unit_, terminal_width(STDERR_FILENO) - 1, shows_utf8());
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!visible_) return;
  visible_ = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace crossbill::tools
