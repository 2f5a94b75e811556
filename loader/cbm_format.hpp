// The layout of a .cbm file, version 0, shared by reader and writer; docs/format.md says the same in words.
//
//   header (64 bytes) | section table (128 bytes an entry) | section | section | …
//
// Every section starts at a multiple of 64; the bytes between sections are zero. All numbers are
// little-endian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace crossbill::loader::cbm {

static_assert(std::endian::native == std::endian::little,
              ".cbm files are little-endian and mapped as they are");

/// As PNG's: a byte beyond ASCII, line ends that a text transfer would change, an end-of-file mark.
inline constexpr std::array<unsigned char, 8> kMagic{0x89, 'C', 'B', 'M', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint32_t kVersion = 0;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kMostSections = 65'536;
inline constexpr std::size_t kLongestMetadata = 1u << 20;

struct Header {
  std::array<unsigned char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t section_count = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t table_checksum = 0;
  std::array<std::uint8_t, 32> reserved{};  ///< zero
};
static_assert(sizeof(Header) == 64);

enum class SectionType : std::uint32_t {
  bytes = 0,      ///< [count]
  f32 = 1,        ///< [count] or [rows][cols]
  f16 = 2,        ///< [rows][cols]
  s8 = 3,         ///< [rows][cols]
  s32 = 4,        ///< [count]
  s8_panels = 5,  ///< [rows][cols] as kernels/panels.hpp lays them out, so more bytes than rows·cols
};
inline constexpr std::uint32_t kSectionTypes = 6;

struct Section {
  std::array<char, 64> name{};  ///< ASCII, filled up with zeros, the last byte is zero
  SectionType type = SectionType::bytes;
  std::uint32_t rank = 1;                   ///< 1 or 2
  std::array<std::uint64_t, 2> shape{};     ///< the second is 1 if rank is 1
  std::uint64_t offset = 0;                 ///< from the start of the file
  std::uint64_t bytes = 0;                  ///< without the zeros that follow
  std::uint64_t checksum = 0;               ///< of those bytes
  std::array<std::uint8_t, 16> reserved{};  ///< zero
};
static_assert(sizeof(Section) == 128);

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace crossbill::loader::cbm
