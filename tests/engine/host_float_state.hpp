// Floating-point states that a host program may have set when it calls us.
#pragma once

#include <cfenv>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace crossbill::engine::test {

using FloatState = std::uint64_t;

struct HostFloatState {
  const char* name;
  int rounding = FE_TONEAREST;
  std::uint32_t mxcsr_set = 0;    ///< bits to set (x86-64 only)
  std::uint32_t mxcsr_clear = 0;  ///< bits to clear (x86-64 only)
  bool changes_results = true;
};

inline std::vector<HostFloatState> host_float_states() {
  std::vector<HostFloatState> states = {
      {"default", FE_TONEAREST, 0, 0, false},
      {"rounds up", FE_UPWARD},
      {"rounds down", FE_DOWNWARD},
      {"rounds to zero", FE_TOWARDZERO},
  };
#if defined(__x86_64__)
  states.push_back({"FTZ", FE_TONEAREST, 0x8000});
  states.push_back({"DAZ", FE_TONEAREST, 0x0040});
  states.push_back({"divisions by zero trap", FE_TONEAREST, 0, 0x0200, false});
  states.push_back({"FTZ, DAZ and rounding up", FE_UPWARD, 0x8040});
#endif
  return states;
}

/// What must be the same after a call as before: the whole control and status register, where there is one.
inline FloatState float_state() {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  return static_cast<FloatState>(std::fegetround()) << 32 |
         static_cast<FloatState>(std::fetestexcept(FE_ALL_EXCEPT));
#endif
}

/// This thread has `state` while it lives.
class WithHostFloatState {
 public:
  explicit WithHostFloatState(const HostFloatState& state) {
    std::fegetenv(&before_);
    std::fesetround(state.rounding);
#if defined(__x86_64__)
    _mm_setcsr((_mm_getcsr() | state.mxcsr_set) & ~state.mxcsr_clear & ~0x3fu);
#endif
  }
  ~WithHostFloatState() {
    std::fesetenv(&before_);
  }
  WithHostFloatState(const WithHostFloatState&) = delete;
  WithHostFloatState& operator=(const WithHostFloatState&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace crossbill::engine::test
