// A job whose chunks call a function, for tests of the thread pool.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <utility>

#include "engine/job.hpp"

namespace crossbill::engine::test {

class RecordingJob final : public Job {
 public:
  using Chunk = std::function<void(std::size_t)>;

  RecordingJob(std::size_t chunks, Chunk run, Limits limits = {})
      : Job(chunks, std::move(limits)), run_(std::move(run)) {}

  void run_chunk(std::size_t chunk, Workspace&) override { run_(chunk); }
  void finished(std::exception_ptr error) noexcept override {
    if (error) {
      end_.set_exception(std::move(error));
    } else {
      end_.set_value();
    }
  }
  std::future<void> end() { return end_.get_future(); }

 private:
  Chunk run_;
  std::promise<void> end_;
};

}  // namespace crossbill::engine::test
