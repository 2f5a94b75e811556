#include "engine/float_environment.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace crossbill::engine {

#if defined(__x86_64__)

// Power-on value: all six exceptions masked, round to nearest even, FTZ (bit 15) and DAZ (bit 6) clear.
static constexpr std::uint32_t kDefaultMxcsr = 0x1f80;

FloatEnvironment::FloatEnvironment() noexcept : mxcsr_(_mm_getcsr()) {
  _mm_setcsr(kDefaultMxcsr);
}

FloatEnvironment::~FloatEnvironment() {
  _mm_setcsr(mxcsr_);
}

#elif defined(__aarch64__)

// FPCR 0 is the same: nearest even, no flush to zero, no traps. FPSR holds the sticky flags.
FloatEnvironment::FloatEnvironment() noexcept {
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr_));
  __asm__ volatile("mrs %0, fpsr" : "=r"(fpsr_));
  __asm__ volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}));
}

FloatEnvironment::~FloatEnvironment() {
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr_));
  __asm__ volatile("msr fpsr, %0" : : "r"(fpsr_));
}

#else

FloatEnvironment::FloatEnvironment() noexcept {
  std::fegetenv(&saved_);
  std::fesetenv(FE_DFL_ENV);
}

FloatEnvironment::~FloatEnvironment() {
  std::fesetenv(&saved_);
}

#endif

}  // namespace crossbill::engine
