// The pool by itself: turns, limits, failures, cancelling, closing.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "crossbill/error.hpp"
#include "engine/thread_pool.hpp"
#include "recording_job.hpp"

namespace crossbill::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::RecordingJob;

std::shared_ptr<RecordingJob> job_of(std::size_t chunks, RecordingJob::Chunk run, Limits limits = {}) {
  return std::make_shared<RecordingJob>(chunks, std::move(run), std::move(limits));
}

template <typename Call>
ErrorCode code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no Error was thrown";
  return ErrorCode::file_error;
}

TEST(ThreadPool, RunsEveryChunkOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const std::size_t chunks : {0u, 1u, 2u, 7u, 500u}) {
      std::vector<std::atomic<int>> runs(chunks);
      pool.run(job_of(chunks, [&](std::size_t chunk) { ++runs[chunk]; }));
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, OfOneThreadComputesInTheCallingThread) {
  ThreadPool pool(1);
  std::set<std::thread::id> ids;
  pool.run(job_of(50, [&](std::size_t) { ids.insert(std::this_thread::get_id()); }));
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
  EXPECT_EQ(pool.started_threads(), 0u);
}

TEST(ThreadPool, StartsNoMoreThreadsThanThereAreChunks) {
  ThreadPool pool(8);
  EXPECT_EQ(pool.started_threads(), 0u);
  pool.run(job_of(1, [](std::size_t) {}));
  EXPECT_EQ(pool.started_threads(), 0u);
  pool.run(job_of(3, [](std::size_t) {}));
  EXPECT_EQ(pool.started_threads(), 2u);
  pool.run(job_of(100, [](std::size_t) {}));
  EXPECT_EQ(pool.started_threads(), 7u);
}

TEST(ThreadPool, ReallyRunsAsManyChunksAtOnceAsItHasThreads) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    std::latch together(3);  // a chunk goes on only when three of them run
    pool.run(job_of(3, [&](std::size_t) { together.arrive_and_wait(); }));
  }
}

TEST(ThreadPool, NeverRunsMoreChunksAtOnceThanItHasThreads) {
  ThreadPool pool(2);
  std::atomic<int> running{0}, most{0}, done{0};
  const auto chunk = [&](std::size_t) {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::yield();
    --running;
    ++done;
  };
  std::vector<std::thread> callers;
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const auto posted = job_of(2, chunk);
        auto end = posted->end();
        pool.post(posted);
        pool.run(job_of(5, chunk));
        end.get();
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(done, 8 * 20 * 7);
  EXPECT_LE(most, 2);
  EXPECT_LE(pool.started_threads(), 2u);
}

TEST(ThreadPool, TakesTurnsBetweenJobs) {
  ThreadPool pool(1);
  std::string order;
  std::latch both_posted(1);
  const auto long_job = job_of(6, [&](std::size_t chunk) {
    if (chunk == 0) both_posted.wait();
    order += 'L';
  });
  const auto short_job = job_of(2, [&](std::size_t) { order += 's'; });
  auto long_end = long_job->end(), short_end = short_job->end();
  pool.post(long_job);
  pool.post(short_job);
  both_posted.count_down();
  long_end.get();
  short_end.get();
  // The long job was alone when its first chunk was taken, so its second one stands before the short job's.
  EXPECT_TRUE(order == "LLsLsLLL" || order == "LsLsLLLL") << order;
}

TEST(ThreadPool, ACallerWorksOnOthersJobsWhenItIsTheirTurn) {
  ThreadPool pool(1);
  std::latch first_runs(1), second_posted(1);
  std::string order;
  const auto posted = job_of(3, [&](std::size_t chunk) {
    if (chunk == 0) {
      first_runs.count_down();
      second_posted.wait();
    }
    order += 'p';
  });
  auto end = posted->end();
  pool.post(posted);
  first_runs.wait();
  std::thread caller([&] { pool.run(job_of(3, [&](std::size_t) { order += 'r'; })); });
  std::this_thread::sleep_for(milliseconds(20));  // most likely it waits for its turn now
  second_posted.count_down();
  caller.join();
  end.get();
  EXPECT_EQ(order.size(), 6u);
}

TEST(ThreadPool, AFailedChunkReachesTheCallerAndEndsTheJob) {
  ThreadPool pool(1);
  std::size_t last = 0;
  EXPECT_THROW(pool.run(job_of(10,
                               [&](std::size_t chunk) {
                                 last = chunk;
                                 if (chunk == 3) throw std::bad_alloc();
                               })),
               std::bad_alloc);
  EXPECT_EQ(last, 3u);
}

TEST(ThreadPool, OfSeveralFailuresTheFirstChunksCounts) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    std::latch later_failed(1);
    try {
      pool.run(job_of(2, [&](std::size_t chunk) {
        if (chunk == 0) later_failed.wait();
        if (chunk == 1) later_failed.count_down();
        throw Error(ErrorCode::invalid_argument, std::to_string(chunk));
      }));
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "0");
    }
  }
}

TEST(ThreadPool, AFailureLosesNothingElse) {
  ThreadPool pool(3);
  std::atomic<int> done{0};
  std::thread other([&] {
    for (int round = 0; round < 100; ++round) pool.run(job_of(4, [&](std::size_t) { ++done; }));
  });
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(pool.run(job_of(4, [](std::size_t) { throw std::bad_alloc(); })), std::bad_alloc);
  }
  other.join();
  EXPECT_EQ(done, 400);
}

TEST(ThreadPool, AStopEndsAJobBetweenChunks) {
  ThreadPool pool(1);
  std::stop_source stop;
  int chunks = 0;
  const auto job = job_of(10,
                          [&](std::size_t chunk) {
                            ++chunks;
                            if (chunk == 4) stop.request_stop();
                          },
                          {stop.get_token(), {}});
  EXPECT_EQ(code_of([&] { pool.run(job); }), ErrorCode::cancelled);
  EXPECT_EQ(chunks, 5);
  pool.run(job_of(3, [&](std::size_t) { ++chunks; }));
  EXPECT_EQ(chunks, 8);
}

TEST(ThreadPool, APassedDeadlineEndsAJobBeforeItBegins) {
  ThreadPool pool(2);
  const Limits limits{{}, steady_clock::now()};
  EXPECT_EQ(code_of([&] {
              pool.run(job_of(
                  2, [](std::size_t) { ADD_FAILURE() << "ran"; }, limits));
            }),
            ErrorCode::deadline_exceeded);
}

/// A pool of one thread that is kept busy until the guard goes.
class BusyPool {
 public:
  BusyPool() {
    auto job = job_of(1, [this](std::size_t) {
      busy_.count_down();
      release_.wait();
    });
    end_ = job->end();
    pool.post(job);
    busy_.wait();
  }
  ~BusyPool() {
    release_.count_down();
    end_.get();
  }
  ThreadPool pool{1};

 private:
  std::latch busy_{1}, release_{1};
  std::future<void> end_;
};

TEST(ThreadPool, ADeadlineIsKeptWhileWaitingForATurn) {
  BusyPool busy;
  const Limits limits{{}, steady_clock::now() + milliseconds(5)};
  EXPECT_EQ(code_of([&] {
              busy.pool.run(job_of(
                  1, [](std::size_t) { ADD_FAILURE() << "ran"; }, limits));
            }),
            ErrorCode::deadline_exceeded);
}

TEST(ThreadPool, AStopIsSeenWhileWaitingForATurn) {
  BusyPool busy;
  std::stop_source stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(milliseconds(5));
    stop.request_stop();
  });
  const Limits limits{stop.get_token(), {}};
  EXPECT_EQ(code_of([&] {
              busy.pool.run(job_of(
                  1, [](std::size_t) { ADD_FAILURE() << "ran"; }, limits));
            }),
            ErrorCode::cancelled);
  stopper.join();
}

TEST(ThreadPool, ThePulseComesFromTheCallingThreadAndNotTooOften) {
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    std::vector<steady_clock::time_point> pulses;
    const auto begin = steady_clock::now();
    pool.run(job_of(40, [](std::size_t) { std::this_thread::sleep_for(milliseconds(10)); }),
             [&, caller = std::this_thread::get_id()] {
               EXPECT_EQ(std::this_thread::get_id(), caller);
               pulses.push_back(steady_clock::now());
             });
    ASSERT_GE(pulses.size(), 1u);
    EXPECT_GE(pulses.front() - begin, ThreadPool::kPulse);
    for (std::size_t i = 1; i < pulses.size(); ++i) {
      EXPECT_GE(pulses[i] - pulses[i - 1], ThreadPool::kPulse);
    }
  }
}

TEST(ThreadPool, AThrowingPulseEndsTheJobAndWaitsForItsChunks) {
  ThreadPool pool(2);
  std::atomic<int> running{0};
  const auto chunk = [&](std::size_t) {
    ++running;
    std::this_thread::sleep_for(milliseconds(10));
    --running;
  };
  EXPECT_THROW(pool.run(job_of(1000, chunk), [] { throw std::runtime_error("enough"); }), std::runtime_error);
  EXPECT_EQ(running, 0);
}

TEST(ThreadPool, ClosingCancelsWhatHasNotBegun) {
  std::future<void> begun_end, waiting_end;
  std::latch begun(1);
  std::atomic<bool> begun_done{false};
  {
    ThreadPool pool(1);
    const auto first = job_of(1, [&](std::size_t) {
      begun.count_down();
      std::this_thread::sleep_for(milliseconds(20));
      begun_done = true;
    });
    const auto second = job_of(3, [](std::size_t) { ADD_FAILURE() << "ran"; });
    begun_end = first->end();
    waiting_end = second->end();
    pool.post(first);
    begun.wait();
    pool.post(second);
  }
  EXPECT_TRUE(begun_done);
  begun_end.get();
  EXPECT_EQ(code_of([&] { waiting_end.get(); }), ErrorCode::cancelled);
}

TEST(ThreadPool, TwoPoolsLiveSideBySide) {
  ThreadPool one(2), other(3);
  std::atomic<int> done{0};
  std::thread in_one([&] {
    for (int i = 0; i < 100; ++i) one.run(job_of(3, [&](std::size_t) { ++done; }));
  });
  for (int i = 0; i < 100; ++i) other.run(job_of(3, [&](std::size_t) { ++done; }));
  in_one.join();
  EXPECT_EQ(done, 600);
}

TEST(ThreadPool, AJobMayUseAnotherPool) {
  ThreadPool outer(2), inner(2);
  std::atomic<int> done{0};
  outer.run(job_of(8, [&](std::size_t) { inner.run(job_of(4, [&](std::size_t) { ++done; })); }));
  EXPECT_EQ(done, 32);
}

TEST(ThreadPool, WorkersLeaveSignalsToTheHostsThreads) {
  ThreadPool pool(1);
  std::atomic<bool> blocked{false};
  const auto job = job_of(1, [&](std::size_t) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGTERM) == 1;
  });
  auto end = job->end();
  pool.post(job);
  end.get();
  EXPECT_TRUE(blocked);
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

}  // namespace
}  // namespace crossbill::engine
