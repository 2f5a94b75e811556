#include "engine/thread_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <signal.h>

#include "crossbill/error.hpp"
#include "engine/float_environment.hpp"

namespace crossbill::engine {
namespace {

/// How many forks lie between the first process and this one; a crew of another generation is the parent's.
std::atomic<unsigned> fork_generation{0};

void count_forks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { fork_generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

void relax_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// A worker with nothing to do looks this often for new work before it sleeps: some tens of microseconds,
/// about what waking a sleeper costs.
constexpr int kSpins = 1000;

/// The failure of a job as a whole ranks behind that of any chunk.
constexpr std::size_t kWholeJob = std::numeric_limits<std::size_t>::max();

/// Threads inherit the mask of their maker; the host's signal handlers belong in the host's threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

struct Claim {
  std::shared_ptr<Job> job;
  std::size_t chunk = 0;
  std::unique_ptr<Workspace> workspace;  // null: none has been made yet for this many threads
};

}  // namespace

// The threads, and the ring of jobs that they take turns over. All members are guarded by `mutex`.
//
// Invariant: while the ring holds work and fewer than `limit` chunks run, some thread that may claim is awake
// or has been called. Each thread that claims calls the next one (hand_on), so nobody has to wake them all.
struct ThreadPool::Crew {
  using Lock = std::unique_lock<std::mutex>;

  const std::size_t limit;
  const unsigned generation = fork_generation.load(std::memory_order_relaxed);
  std::mutex mutex;
  std::list<std::shared_ptr<Job>> ring;  // jobs with unclaimed chunks; the front is served next
  std::vector<std::unique_ptr<Workspace>> spare;
  std::vector<std::thread> workers;
  std::condition_variable wake;         // for workers
  std::size_t running = 0;              // chunks
  std::size_t callers = 0;              // threads inside run(); they work as well
  std::size_t asleep = 0;               // workers waiting on `wake`
  std::size_t called = 0;               // of those, how many are on their way
  std::atomic<std::uint64_t> posts{0};  // jobs so far: what a spinning worker looks at without the mutex
  bool closing = false;

  explicit Crew(std::size_t threads) : limit(threads) { spare.reserve(threads); }
  ~Crew();

  void start_workers(std::size_t helpers);
  void add(const std::shared_ptr<Job>& job, Lock& lock);
  std::optional<Claim> claim(Lock& lock);
  void execute(Claim claim, Lock& lock);
  void fail(const std::shared_ptr<Job>& job, std::exception_ptr error, std::size_t chunk, Lock& lock);
  void end(const std::shared_ptr<Job>& job, Lock& lock);
  void hand_on();
  void work();
  void sleep(Lock& lock);
  void run(const std::shared_ptr<Job>& job, const Pulse& pulse, Lock& lock);
  void call_pulse(const std::shared_ptr<Job>& job, const Pulse& pulse, Lock& lock);
  void wait_for_change(Job& job, bool pulsing, Lock& lock);
};

ThreadPool::Crew::~Crew() {
  Lock lock(mutex);
  while (!ring.empty()) {
    const std::shared_ptr<Job> job = ring.front();
    fail(job,
         std::make_exception_ptr(
             Error(ErrorCode::cancelled, "the Reranker was closed before the work was done")),
         kWholeJob, lock);
  }
  closing = true;
  posts.fetch_add(1, std::memory_order_relaxed);
  wake.notify_all();
  lock.unlock();
  for (auto& worker : workers) worker.join();
}

/// Starts as many workers as can be kept busy by the ring and what runs, beside `helpers` other threads.
void ThreadPool::Crew::start_workers(std::size_t helpers) {
  std::size_t chunks = running;
  for (const auto& job : ring) chunks += job->chunks_ - job->next_;
  const std::size_t busy = std::min(limit, chunks);
  const std::size_t wanted = busy - std::min(busy, helpers);
  if (workers.size() >= wanted) return;
  const BlockedSignals blocked;
  workers.reserve(limit);
  while (workers.size() < wanted) workers.emplace_back([this] { work(); });
}

void ThreadPool::Crew::add(const std::shared_ptr<Job>& job, Lock& lock) {
  if (job->complete()) {  // it has no chunks
    end(job, lock);
    return;
  }
  ring.push_back(job);
  posts.fetch_add(1, std::memory_order_relaxed);
}

/// Takes the next chunk of the job whose turn it is. Jobs that are out of time end here.
std::optional<Claim> ThreadPool::Crew::claim(Lock& lock) {
  while (running < limit && !ring.empty()) {
    const std::shared_ptr<Job> job = ring.front();
    if (auto error = job->limits_.reached()) {
      fail(job, std::move(error), kWholeJob, lock);
      continue;
    }
    Claim claim;
    claim.job = job;
    claim.chunk = job->next_++;
    if (!spare.empty()) {
      claim.workspace = std::move(spare.back());
      spare.pop_back();
    }
    ++job->running_;
    ++running;
    if (job->has_unclaimed()) {
      ring.splice(ring.end(), ring, ring.begin());
    } else {
      ring.pop_front();
    }
    hand_on();
    return claim;
  }
  return std::nullopt;
}

void ThreadPool::Crew::execute(Claim claim, Lock& lock) {
  lock.unlock();
  std::exception_ptr error;
  {
    const FloatEnvironment environment;
    try {
      if (!claim.workspace) claim.workspace = std::make_unique<Workspace>();
      claim.job->run_chunk(claim.chunk, *claim.workspace);
    } catch (...) {
      error = std::current_exception();
    }
  }
  lock.lock();
  if (claim.workspace) spare.push_back(std::move(claim.workspace));
  --running;
  --claim.job->running_;
  if (error) {
    fail(claim.job, std::move(error), claim.chunk, lock);
  } else if (claim.job->complete()) {
    end(claim.job, lock);
  }
}

/// Leaves out what has not begun of a job.
void ThreadPool::Crew::fail(const std::shared_ptr<Job>& job, std::exception_ptr error, std::size_t chunk,
                            Lock& lock) {
  job->fail(std::move(error), chunk);
  ring.remove(job);
  if (job->complete()) end(job, lock);
}

/// Lets go of the mutex while `finished` runs.
void ThreadPool::Crew::end(const std::shared_ptr<Job>& job, Lock& lock) {
  if (job->ended_) return;
  job->ended_ = true;
  job->changed_.notify_all();
  if (!job->posted_) return;
  std::exception_ptr error = std::move(job->error_);
  lock.unlock();
  job->finished(std::move(error));
  lock.lock();
}

/// If one more chunk may run, calls one more thread: a sleeping worker, else a caller that waits for its
/// turn.
void ThreadPool::Crew::hand_on() {
  if (ring.empty() || running >= limit) return;
  if (asleep > called) {
    ++called;
    wake.notify_one();
    return;
  }
  for (const auto& job : ring) {
    if (job->waiting_) {
      job->waiting_ = false;
      job->changed_.notify_one();
      return;
    }
  }
}

void ThreadPool::Crew::work() {
  Lock lock(mutex);
  while (!closing) {
    if (auto claimed = claim(lock)) {
      execute(std::move(*claimed), lock);
    } else {
      sleep(lock);
    }
  }
}

void ThreadPool::Crew::sleep(Lock& lock) {
  const std::uint64_t seen = posts.load(std::memory_order_relaxed);
  if (ring.empty()) {  // a next call often follows at once
    lock.unlock();
    for (int i = 0; i < kSpins && posts.load(std::memory_order_relaxed) == seen; ++i) relax_cpu();
    lock.lock();
  }
  if (closing || (running < limit && !ring.empty())) return;
  ++asleep;
  wake.wait(lock, [this] { return called > 0 || closing; });
  --asleep;
  if (called > 0) --called;
}

void ThreadPool::Crew::run(const std::shared_ptr<Job>& job, const Pulse& pulse, Lock& lock) {
  auto next_pulse = std::chrono::steady_clock::now() + kPulse;
  while (!job->ended_) {
    if (pulse && !job->error_ && std::chrono::steady_clock::now() >= next_pulse) {
      hand_on();
      call_pulse(job, pulse, lock);
      next_pulse = std::chrono::steady_clock::now() + kPulse;
      continue;
    }
    if (job->has_unclaimed()) {
      if (auto claimed = claim(lock)) {
        execute(std::move(*claimed), lock);
        continue;
      }
    }
    if (job->has_unclaimed()) {  // all slots are taken; the clock goes on all the same
      if (auto error = job->limits_.reached()) fail(job, std::move(error), kWholeJob, lock);
    } else {
      hand_on();
    }
    if (!job->ended_) wait_for_change(*job, static_cast<bool>(pulse), lock);
  }
}

void ThreadPool::Crew::call_pulse(const std::shared_ptr<Job>& job, const Pulse& pulse, Lock& lock) {
  std::exception_ptr thrown;
  lock.unlock();
  try {
    pulse();
  } catch (...) {
    thrown = std::current_exception();
  }
  lock.lock();
  if (thrown) fail(job, std::move(thrown), 0, lock);
}

/// Until the job has ended, this thread may claim, or it is time to look at the pulse, stop token or
/// deadline.
void ThreadPool::Crew::wait_for_change(Job& job, bool pulsing, Lock& lock) {
  constexpr auto kNever = std::chrono::steady_clock::time_point::max();
  auto until = kNever;
  if (pulsing || (job.has_unclaimed() && job.limits_.stop.stop_possible())) {
    until = std::chrono::steady_clock::now() + kPulse;
  }
  if (job.has_unclaimed() && job.limits_.deadline) until = std::min(until, *job.limits_.deadline);
  job.waiting_ = true;
  if (until == kNever) {
    job.changed_.wait(lock);
  } else {
    job.changed_.wait_until(lock, until);
  }
  job.waiting_ = false;
}

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  count_forks();
}

ThreadPool::~ThreadPool() {
  Crew* crew = crew_.load(std::memory_order_acquire);
  if (crew == nullptr) return;
  // What the parent's threads left behind can't be joined, nor its mutex trusted: it is given up.
  if (crew->generation != fork_generation.load(std::memory_order_relaxed)) return;
  delete crew;
}

/// The crew of this process; made at the first call, and again at the first call after a fork.
ThreadPool::Crew& ThreadPool::crew() const {
  Crew* current = crew_.load(std::memory_order_acquire);
  if (current != nullptr && current->generation == fork_generation.load(std::memory_order_relaxed)) {
    return *current;
  }
  auto fresh = std::make_unique<Crew>(static_cast<std::size_t>(threads_));
  if (crew_.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
  return *current;  // another thread was quicker
}

void ThreadPool::run(const std::shared_ptr<Job>& job, const Pulse& pulse) {
  Crew& crew = this->crew();
  Crew::Lock lock(crew.mutex);
  crew.add(job, lock);
  ++crew.callers;
  try {
    crew.start_workers(crew.callers);
  } catch (const std::exception&) {
    // The system grants no more threads; the calling thread and those that are there do the work.
  }
  crew.run(job, pulse, lock);
  --crew.callers;
  crew.hand_on();
  const std::exception_ptr error = std::move(job->error_);
  lock.unlock();
  if (error) std::rethrow_exception(error);
}

void ThreadPool::post(const std::shared_ptr<Job>& job) {
  Crew& crew = this->crew();
  Crew::Lock lock(crew.mutex);
  job->posted_ = true;
  crew.add(job, lock);
  try {
    crew.start_workers(0);  // callers come and go, so they don't count here
  } catch (const std::exception&) {
    if (crew.workers.empty()) {  // nobody would ever come
      crew.ring.remove(job);
      throw;
    }
  }
  crew.hand_on();
}

std::size_t ThreadPool::started_threads() const {
  Crew* crew = crew_.load(std::memory_order_acquire);
  if (crew == nullptr || crew->generation != fork_generation.load(std::memory_order_relaxed)) return 0;
  const Crew::Lock lock(crew->mutex);
  return crew->workers.size();
}

}  // namespace crossbill::engine
