// Work that falls into chunks: what a ThreadPool is given to do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "engine/arena.hpp"
#include "engine/packed_batch.hpp"

namespace crossbill::engine {

/// What one running chunk may use; kept from chunk to chunk, so that memory is asked for once. A pool never
/// has more of them than threads.
struct Workspace {
  Arena arena;
  PackedBatch batch;
  std::vector<float> logits;
};

/// When work should end early. Looked at between chunks, never inside one.
struct Limits {
  std::stop_token stop;
  std::optional<std::chrono::steady_clock::time_point> deadline;

  /// Error cancelled or deadline_exceeded if it is time to end, else null.
  std::exception_ptr reached() const noexcept;
};

/// Chunks are independent of each other and may run in any thread and in any order (they are started in
/// ascending order). The first failure ends a job: chunks that have not started are left out.
class Job {
 public:
  Job(std::size_t chunks, Limits limits) : chunks_(chunks), limits_(std::move(limits)) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual void run_chunk(std::size_t chunk, Workspace& workspace) = 0;
  /// Called once for a job that was posted, in the thread that ended the last chunk, with what went wrong or
  /// null.
  virtual void finished(std::exception_ptr /*error*/) noexcept {}

  std::size_t chunks() const { return chunks_; }

 private:
  friend class ThreadPool;

  // All below is guarded by the pool's mutex.
  bool has_unclaimed() const { return next_ < chunks_; }
  bool complete() const { return next_ >= chunks_ && running_ == 0; }
  /// Of several failures that of the lowest chunk stays: chunks start in order, so the failure that a caller
  /// sees doesn't depend on the number of threads.
  void fail(std::exception_ptr error, std::size_t chunk);

  const std::size_t chunks_;
  const Limits limits_;
  std::size_t next_ = 0;     // first chunk that nobody has taken
  std::size_t running_ = 0;  // chunks taken and not ended
  std::exception_ptr error_;
  std::size_t failed_chunk_ = 0;
  std::condition_variable changed_;  // for the thread that waits in ThreadPool::run
  bool waiting_ = false;             // it sleeps on changed_
  bool posted_ = false;              // nobody waits, finished() is called instead
  bool ended_ = false;               // no chunk runs or will run
};

}  // namespace crossbill::engine
