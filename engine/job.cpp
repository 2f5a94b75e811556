#include "engine/job.hpp"

#include <utility>

#include "crossbill/error.hpp"

namespace crossbill::engine {

std::exception_ptr Limits::reached() const noexcept {
  try {
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "the call was cancelled by its stop token");
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      throw Error(ErrorCode::deadline_exceeded, "the deadline passed before the work was done");
    }
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void Job::fail(std::exception_ptr error, std::size_t chunk) {
  if (!error_ || chunk < failed_chunk_) {
    error_ = std::move(error);
    failed_chunk_ = chunk;
  }
  next_ = chunks_;
}

}  // namespace crossbill::engine
