// The floating-point state in which Crossbill computes, whatever the host program has set.
#pragma once

#include <cfenv>
#include <cstdint>

namespace crossbill::engine {

/// While it lives, this thread rounds to nearest, keeps denormals (FTZ and DAZ off) and masks exceptions;
/// afterwards the thread has the state it had before, sticky exception flags included. A score must not
/// depend on a host that sets FTZ/DAZ or another rounding mode, and the host must not notice that it was
/// scored in between.
class FloatEnvironment {
 public:
  FloatEnvironment() noexcept;
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  std::uint32_t mxcsr_;  // SSE and AVX only; nothing here computes on the x87
#elif defined(__aarch64__)
  std::uint64_t fpcr_;
  std::uint64_t fpsr_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace crossbill::engine
