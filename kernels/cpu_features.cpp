// Reads cpuid and XGETBV, and knows which bits a kernel set needs.
//
// A CPU that has an instruction isn't enough: its registers must also be saved when the OS switches threads,
// which XCR0 tells. A hypervisor or a kernel option may switch that off while cpuid still lists AVX-512.
#include "kernels/cpu_features.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace crossbill::kernels {

namespace {

constexpr std::uint32_t bit(int position) {
  return std::uint32_t{1} << position;
}

bool has_all(std::uint64_t value, std::uint64_t bits) {
  return (value & bits) == bits;
}

// cpuid leaf 1, ecx.
constexpr std::uint32_t kFma = bit(12);
constexpr std::uint32_t kOsXsave = bit(27);
constexpr std::uint32_t kAvx = bit(28);
constexpr std::uint32_t kF16c = bit(29);
// cpuid leaf 7, subleaf 0.
constexpr std::uint32_t kEbxAvx2 = bit(5);
constexpr std::uint32_t kEbxAvx512 = bit(16) | bit(17) | bit(30) | bit(31);  // F, DQ, BW, VL
constexpr std::uint32_t kEcxAvx512Vnni = bit(11);
constexpr std::uint32_t kEdxAmx = bit(24) | bit(25);  // tile, int8
// cpuid leaf 7, subleaf 1.
constexpr std::uint32_t kEaxAvxVnni = bit(4);
// XCR0: what the OS saves.
constexpr std::uint64_t kStateYmm = bit(1) | bit(2);           // xmm, upper ymm
constexpr std::uint64_t kStateZmm = bit(5) | bit(6) | bit(7);  // opmask, upper zmm, zmm16–31
constexpr std::uint64_t kStateTiles = bit(17) | bit(18);       // tile configuration, tile data

#if defined(__x86_64__)
CpuRegisters read_registers() {
  CpuRegisters registers;
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) {
    return registers;
  }
  registers.leaf1_ecx = ecx;
  if (has_all(ecx, kOsXsave)) {
    // Written as assembly because the intrinsic needs -mxsave, and this file has no flags of its own.
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    registers.xcr0 = std::uint64_t{high} << 32 | low;
  }
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    registers.leaf7_ebx = ebx;
    registers.leaf7_ecx = ecx;
    registers.leaf7_edx = edx;
    const std::uint32_t last_subleaf = eax;
    if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) {
      registers.leaf7_1_eax = eax;
    }
  }
  return registers;
}
#endif

}  // namespace

std::uint32_t cpu_features_of(const CpuRegisters& registers) noexcept {
  std::uint32_t features = 0;
  if (!has_all(registers.leaf1_ecx, kOsXsave | kAvx | kFma | kF16c) ||
      !has_all(registers.leaf7_ebx, kEbxAvx2) || !has_all(registers.xcr0, kStateYmm)) {
    return features;
  }
  features |= cpu_avx2;
  if (has_all(registers.leaf7_1_eax, kEaxAvxVnni)) {
    features |= cpu_avx_vnni;
  }
  if (!has_all(registers.leaf7_ebx, kEbxAvx512) || !has_all(registers.xcr0, kStateZmm)) {
    return features;
  }
  features |= cpu_avx512;
  if (has_all(registers.leaf7_ecx, kEcxAvx512Vnni)) {
    features |= cpu_avx512_vnni;
  }
  if (has_all(registers.leaf7_edx, kEdxAmx) && has_all(registers.xcr0, kStateTiles)) {
    features |= cpu_amx_int8;
  }
  return features;
}

std::uint32_t detected_cpu_features() noexcept {
#if defined(__x86_64__)
  static const std::uint32_t features = cpu_features_of(read_registers());
  return features;
#else
  return 0;
#endif
}

}  // namespace crossbill::kernels
