#include "loader/checksum.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace crossbill::loader {
namespace {

constexpr std::size_t kLaneCount = 8;
constexpr std::size_t kBlock = kLaneCount * 8;
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2⁶⁴ divided by the golden ratio, odd

/// One-to-one in `state` and in `word`: xor, rotation and an odd multiplication can all be undone. The
/// rotation brings high bits down, which a multiplication alone never does.
std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  return std::rotl(state ^ word, 29) * kMultiplier;
}

void mix_block(std::array<std::uint64_t, kLaneCount>& lanes, const std::byte* block) {
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    std::uint64_t word;
    std::memcpy(&word, block + lane * sizeof word, sizeof word);
    lanes[lane] = mix(lanes[lane], word);
  }
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::array<std::uint64_t, kLaneCount> lanes;
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    lanes[lane] = lane + 1;
  }
  std::size_t at = 0;
  for (; at + kBlock <= bytes.size(); at += kBlock) {
    mix_block(lanes, bytes.data() + at);
  }
  if (at < bytes.size()) {  // the last block is filled up with zeros
    std::array<std::byte, kBlock> rest{};
    std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
    mix_block(lanes, rest.data());
  }
  std::uint64_t sum = bytes.size();
  for (const std::uint64_t lane : lanes) {
    sum = mix(sum, lane);
  }
  return sum ^ sum >> 32;
}

}  // namespace crossbill::loader
