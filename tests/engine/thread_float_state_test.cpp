// The floating-point state of threads that compute, whatever the host has set.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>

#include "engine/float_environment.hpp"
#include "engine/thread_pool.hpp"
#include "host_float_state.hpp"
#include "recording_job.hpp"

namespace crossbill::engine {
namespace {

/// The bits of results that tell rounding, FTZ and DAZ apart. (Bits, since with DAZ a denormal equals zero.)
using Fingerprint = std::array<std::uint32_t, 4>;

Fingerprint fingerprint() {
  volatile float one = 1.0f, three = 3.0f, five = 5.0f;
  volatile float smallest = std::numeric_limits<float>::min(), half = 0.5f;
  volatile float denormal = std::numeric_limits<float>::denorm_min();
  return {std::bit_cast<std::uint32_t>(one / three), std::bit_cast<std::uint32_t>(five / three),
          std::bit_cast<std::uint32_t>(smallest * half), std::bit_cast<std::uint32_t>(denormal + denormal)};
}

const Fingerprint kDefault = fingerprint();

TEST(FloatEnvironment, TheHostStatesOfTheseTestsDoChangeResults) {
  for (const test::HostFloatState& state : test::host_float_states()) {
    const test::WithHostFloatState host(state);
    if (state.changes_results) {
      EXPECT_FALSE(fingerprint() == kDefault) << state.name;
    }
  }
}

TEST(FloatEnvironment, IsTheDefaultWhateverTheHostHasSet) {
  for (const test::HostFloatState& state : test::host_float_states()) {
    const test::WithHostFloatState host(state);
    const FloatEnvironment environment;
    EXPECT_TRUE(fingerprint() == kDefault) << state.name;
    volatile float one = 1.0f, zero = 0.0f;
    EXPECT_EQ(one / zero, std::numeric_limits<float>::infinity()) << state.name;  // must not trap
  }
}

TEST(FloatEnvironment, GivesTheHostItsStateBackFlagsIncluded) {
  for (const test::HostFloatState& state : test::host_float_states()) {
    const test::WithHostFloatState host(state);
    std::feclearexcept(FE_ALL_EXCEPT);
    const test::FloatState before = test::float_state();
    {
      const FloatEnvironment environment;
      volatile float one = 1.0f, zero = 0.0f;
      volatile float raised = one / zero;
      static_cast<void>(raised);
    }
    EXPECT_EQ(test::float_state(), before) << state.name;
  }
}

TEST(ThreadPool, ChunksRunInTheDefaultStateInEveryThread) {
  for (const test::HostFloatState& state : test::host_float_states()) {
    const test::WithHostFloatState host(state);
    const test::FloatState before = test::float_state();
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      std::atomic<int> wrong{0};
      pool.run(std::make_shared<test::RecordingJob>(20, [&](std::size_t) {
        if (!(fingerprint() == kDefault)) ++wrong;
      }));
      EXPECT_EQ(wrong, 0) << state.name;
    }
    EXPECT_EQ(test::float_state(), before) << state.name;
  }
}

TEST(ThreadPool, ThePulseRunsInTheHostsState) {
  const test::WithHostFloatState host(test::host_float_states().back());
  const test::FloatState before = test::float_state();
  ThreadPool pool(1);
  int pulses = 0;
  pool.run(std::make_shared<test::RecordingJob>(
               12, [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }),
           [&] {
             ++pulses;
             EXPECT_EQ(test::float_state(), before);
           });
  EXPECT_GT(pulses, 0);
}

}  // namespace
}  // namespace crossbill::engine
