// The threads of one Reranker. They take turns over all jobs, one chunk each time, so that a short request is
// not stuck behind a long one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "engine/job.hpp"

namespace crossbill::engine {

/// At most `threads` chunks run at once, whoever runs them. Threads are started when there is work for them
/// and sleep when there is none; a pool of one thread that only ever sees run() starts none at all. After
/// fork() the child finds none of the parent's threads and starts its own.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  /// Jobs that were posted and have not begun end with Error cancelled; chunks under way are waited for.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Called every now and then by the thread that waits in run(), with no lock held.
  using Pulse = std::function<void()>;
  static constexpr std::chrono::milliseconds kPulse{50};

  /// Runs the job and returns when it is complete; the calling thread works too, on this job and, when it is
  /// their turn, on others'. Throws what a chunk threw, Error cancelled or deadline_exceeded, or what `pulse`
  /// threw. However it ends, no chunk of the job is running any more.
  void run(const std::shared_ptr<Job>& job, const Pulse& pulse = {});

  /// Leaves the job to the pool's threads and returns at once; `Job::finished` is called at the end.
  void post(const std::shared_ptr<Job>& job);

  /// Threads that this pool has started (in this process), for tests.
  std::size_t started_threads() const;

 private:
  struct Crew;
  Crew& crew() const;

  const int threads_;
  mutable std::atomic<Crew*> crew_{nullptr};
};

}  // namespace crossbill::engine
