// SHA-256 (FIPS 180-4): tells which weights a packed model was made from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace crossbill::loader {

/// Feed bytes in pieces of any size, then ask for the digest once.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  /// 64 lower-case hexadecimal digits.
  std::string finish();

 private:
  void compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace crossbill::loader
