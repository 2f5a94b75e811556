// The two 16-bit float formats, widened and narrowed by integer arithmetic: no F16C instruction, and the same
// bits whatever rounding or denormal mode the host program has set.
#pragma once

#include <bit>
#include <cstdint>

namespace crossbill::loader {

/// IEEE binary16 → binary32, exact, subnormals, infinities and NaN payloads included.
constexpr float f16_to_f32(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) {  // infinity or NaN: all exponent bits set, mantissa moved up
    return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  }
  if (magnitude >= 0x400u) {  // normal: the exponent's bias goes from 15 to 127
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  }
  if (magnitude == 0) {
    return std::bit_cast<float>(sign);
  }
  // Subnormal m·2⁻²⁴: move the leading one to the place where f32 hides it.
  const int shift = std::countl_zero(magnitude) - 21;
  const std::uint32_t mantissa = (magnitude << shift) & 0x3ffu;
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(113 - shift) << 23 | mantissa << 13);
}

/// bfloat16 is the upper half of an f32.
constexpr float bf16_to_f32(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// binary32 → binary16, to nearest, ties to even; beyond 65,519 it becomes infinity, a NaN stays a NaN.
constexpr std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x47800000u) {  // 65,536 and more
    half = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // 2⁻¹⁴ and more; a carry out of the mantissa is right by itself
    const std::uint32_t rebased = magnitude - (112u << 23);
    half = (rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13;
  } else if (magnitude >= 0x33000000u) {  // 2⁻²⁵ and more: a subnormal, or a tie that may become one
    const std::uint32_t shift = 126 - (magnitude >> 23);
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t halfway = 1u << (shift - 1);
    half = (mantissa + halfway - 1u + (mantissa >> shift & 1u)) >> shift;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace crossbill::loader
