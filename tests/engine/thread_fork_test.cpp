// A child process of a program that has already scored can score.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <memory>
#include <thread>

#include "engine/thread_pool.hpp"
#include "recording_job.hpp"

namespace crossbill::engine {
namespace {

using test::RecordingJob;

/// Whether three threads can be brought together, that is, whether the pool has really got its threads.
bool three_threads_work(ThreadPool& pool) {
  std::latch together(3);
  std::atomic<int> done{0};
  pool.run(std::make_shared<RecordingJob>(3, [&](std::size_t) {
    together.arrive_and_wait();
    ++done;
  }));
  return done == 3;
}

/// Exit status of a child that calls `work`; a child that hangs is killed by its alarm.
template <typename Work>
int status_of_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(work() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

class ForkedPool : public testing::Test {
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer can't follow threads that a forked child starts";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    GTEST_SKIP() << "ThreadSanitizer can't follow threads that a forked child starts";
#endif
#endif
  }
};

TEST_F(ForkedPool, StartsThreadsOfItsOwn) {
  ThreadPool pool(3);
  ASSERT_TRUE(three_threads_work(pool));
  EXPECT_EQ(status_of_child([&] {
              const bool none_at_first = pool.started_threads() == 0;
              return none_at_first && three_threads_work(pool) && pool.started_threads() == 2;
            }),
            0);
  EXPECT_TRUE(three_threads_work(pool));
}

TEST_F(ForkedPool, WorksInAGrandchildToo) {
  ThreadPool pool(3);
  ASSERT_TRUE(three_threads_work(pool));
  EXPECT_EQ(status_of_child([&] {
              return three_threads_work(pool) &&
                     status_of_child([&] { return three_threads_work(pool); }) == 0;
            }),
            0);
}

TEST_F(ForkedPool, WorksAlthoughTheParentWasInTheMidstOfWork) {
  ThreadPool pool(3);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) pool.run(std::make_shared<RecordingJob>(20, [](std::size_t) {}));
  });
  for (int round = 0; round < 30; ++round) {
    EXPECT_EQ(status_of_child([&] { return three_threads_work(pool); }), 0);
  }
  stop = true;
  busy.join();
}

TEST_F(ForkedPool, CanBeDestroyedWithoutTheParentsThreads) {
  auto pool = std::make_unique<ThreadPool>(3);
  ASSERT_TRUE(three_threads_work(*pool));
  EXPECT_EQ(status_of_child([&] {
              pool.reset();
              return true;
            }),
            0);
}

}  // namespace
}  // namespace crossbill::engine
