// What this CPU *and* this operating system let us use. Compiled without wide flags.
#pragma once

#include <cstdint>

namespace crossbill::kernels {

/// Bits of a feature mask. Each stands for everything its kernel set needs, the OS's register state included
/// (avx2 means AVX2 and FMA and F16C; avx512 means F, BW, DQ and VL).
enum CpuFeature : std::uint32_t {
  cpu_avx2 = 1u << 0,
  cpu_avx_vnni = 1u << 1,
  cpu_avx512 = 1u << 2,
  cpu_avx512_vnni = 1u << 3,
  cpu_amx_int8 = 1u << 4,
};

/// Asked of cpuid and XGETBV once; 0 on a CPU that isn't x86-64.
std::uint32_t detected_cpu_features() noexcept;

}  // namespace crossbill::kernels
