// How a call tells its caller how far it is.
#pragma once

#include <chrono>
#include <cstddef>

#include "crossbill/crossbill.hpp"

namespace crossbill::engine {

/// Calls the caller's function at most every 50 ms, and at the end once with done == total.
class ProgressReport {
 public:
  static constexpr std::chrono::milliseconds kInterval{50};

  ProgressReport(const Progress& progress, std::size_t total) : progress_(progress), total_(total) {}

  explicit operator bool() const { return static_cast<bool>(progress_); }

  void update(std::size_t done) {
    if (!progress_ || done >= total_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kInterval) return;
    progress_(done, total_);
    last_ = std::chrono::steady_clock::now();
  }
  void finish() const {
    if (progress_) progress_(total_, total_);
  }

 private:
  const Progress& progress_;
  std::size_t total_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace crossbill::engine
