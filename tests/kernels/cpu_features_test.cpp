// Which kernel sets the CPU's and the OS's registers allow.
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/cpu_features.hpp"

namespace crossbill::kernels {
namespace {

constexpr std::uint32_t bit(int position) {
  return std::uint32_t{1} << position;
}

/// A CPU that has everything, under an OS that saves everything.
CpuRegisters everything() {
  CpuRegisters registers;
  registers.leaf1_ecx = bit(12) | bit(27) | bit(28) | bit(29);
  registers.leaf7_ebx = bit(5) | bit(16) | bit(17) | bit(30) | bit(31);
  registers.leaf7_ecx = bit(11);
  registers.leaf7_edx = bit(24) | bit(25);
  registers.leaf7_1_eax = bit(4);
  registers.xcr0 = 0x600e7;
  return registers;
}

constexpr std::uint32_t kAvx512Bits = cpu_avx512 | cpu_avx512_vnni | cpu_amx_int8;

TEST(CpuFeatures, NothingIsAvailableOnABareCpu) {
  EXPECT_EQ(cpu_features_of(CpuRegisters{}), 0u);
}

TEST(CpuFeatures, EverythingIsFound) {
  EXPECT_EQ(cpu_features_of(everything()), cpu_avx2 | cpu_avx_vnni | kAvx512Bits);
}

TEST(CpuFeatures, WithoutOsSupportNothingWideIsUsed) {
  CpuRegisters registers = everything();
  registers.leaf1_ecx &= ~bit(27);  // OSXSAVE
  EXPECT_EQ(cpu_features_of(registers), 0u);
  registers = everything();
  registers.xcr0 = 0x3;  // x87 and xmm only
  EXPECT_EQ(cpu_features_of(registers), 0u);
}

TEST(CpuFeatures, Avx2NeedsFmaAndF16c) {
  for (const int missing : {12, 28, 29}) {
    CpuRegisters registers = everything();
    registers.leaf1_ecx &= ~bit(missing);
    EXPECT_EQ(cpu_features_of(registers), 0u) << "leaf 1 ecx bit " << missing;
  }
  CpuRegisters registers = everything();
  registers.leaf7_ebx &= ~bit(5);
  EXPECT_EQ(cpu_features_of(registers), 0u);
}

TEST(CpuFeatures, Avx512NeedsAllFourParts) {
  for (const int missing : {16, 17, 30, 31}) {  // F, DQ, BW, VL
    CpuRegisters registers = everything();
    registers.leaf7_ebx &= ~bit(missing);
    EXPECT_EQ(cpu_features_of(registers), cpu_avx2 | cpu_avx_vnni) << "leaf 7 ebx bit " << missing;
  }
}

TEST(CpuFeatures, Avx512NeedsItsRegistersSaved) {
  for (const std::uint64_t missing : {0x20u, 0x40u, 0x80u}) {  // opmask, upper zmm, zmm16–31
    CpuRegisters registers = everything();
    registers.xcr0 &= ~missing;
    EXPECT_EQ(cpu_features_of(registers), cpu_avx2 | cpu_avx_vnni) << "xcr0 " << missing;
  }
}

TEST(CpuFeatures, AmxNeedsTileStateAndInt8) {
  CpuRegisters registers = everything();
  registers.xcr0 &= ~std::uint64_t{0x40000};
  EXPECT_EQ(cpu_features_of(registers) & cpu_amx_int8, 0u);
  registers = everything();
  registers.leaf7_edx &= ~bit(25);
  EXPECT_EQ(cpu_features_of(registers) & cpu_amx_int8, 0u);
  EXPECT_NE(cpu_features_of(registers) & cpu_avx512_vnni, 0u);
}

TEST(CpuFeatures, VnniBitsAreTheirOwn) {
  CpuRegisters registers = everything();
  registers.leaf7_ecx = 0;
  registers.leaf7_1_eax = 0;
  EXPECT_EQ(cpu_features_of(registers), cpu_avx2 | cpu_avx512 | cpu_amx_int8);
}

TEST(CpuFeatures, DetectionIsSteady) {
  EXPECT_EQ(detected_cpu_features(), detected_cpu_features());
}

}  // namespace
}  // namespace crossbill::kernels
