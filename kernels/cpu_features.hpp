// What this CPU *and* this operating system let us use. Compiled without wide flags.
#pragma once

#include <cstdint>

namespace crossbill::kernels {

/// Bits of a feature mask. Each stands for everything its kernel set needs, the OS's register state included
/// (avx2 means AVX2 and FMA and F16C; avx512 means F, BW, DQ and VL on top of avx2; amx_int8 means the tile
/// and int8 instructions on top of avx512).
enum CpuFeature : std::uint32_t {
  cpu_avx2 = 1u << 0,
  cpu_avx_vnni = 1u << 1,
  cpu_avx512 = 1u << 2,
  cpu_avx512_vnni = 1u << 3,
  cpu_amx_int8 = 1u << 4,
};

/// Registers as cpuid and XGETBV return them; zero where the CPU has no such leaf.
struct CpuRegisters {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;
  std::uint64_t xcr0 = 0;  ///< register state that the OS saves; 0 if it doesn't use XSAVE
};

/// The mask that these register values stand for.
std::uint32_t cpu_features_of(const CpuRegisters& registers) noexcept;

/// Asked of cpuid and XGETBV once; 0 on a CPU that isn't x86-64.
std::uint32_t detected_cpu_features() noexcept;

}  // namespace crossbill::kernels
