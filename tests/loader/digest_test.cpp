// SHA-256 and the section checksum.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "loader/checksum.hpp"
#include "loader/sha256.hpp"

namespace crossbill::loader {
namespace {

std::string sha256(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.finish();
}

// FIPS 180-4's own examples, and the empty message.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += static_cast<char>(i * 7);
  }
  for (const std::size_t piece : {1u, 3u, 63u, 64u, 65u, 200u}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      hash.update(std::as_bytes(std::span(text)).subspan(at, std::min(piece, text.size() - at)));
    }
    EXPECT_EQ(hash.finish(), sha256(text)) << piece;
  }
}

TEST(Checksum, SeesEveryFlippedBit) {
  std::vector<std::byte> bytes(200, std::byte{0x5a});
  const auto whole = checksum(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= std::byte{1} << bit;
      EXPECT_NE(checksum(bytes), whole) << i << ' ' << bit;
      bytes[i] ^= std::byte{1} << bit;
    }
  }
}

TEST(Checksum, SeesPairsOfTopBitsAndSwappedWordsAndBlocks) {
  std::mt19937 random(3);
  std::vector<std::byte> bytes(64 * 5);
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  const auto whole = checksum(bytes);
  for (std::size_t word = 0; word + 8 < bytes.size() / 8; ++word) {
    auto changed = bytes;
    changed[word * 8 + 7] ^= std::byte{0x80};  // the same lane in two blocks that follow each other
    changed[word * 8 + 71] ^= std::byte{0x80};
    EXPECT_NE(checksum(changed), whole) << word;
    changed = bytes;
    std::swap_ranges(changed.begin() + word * 8, changed.begin() + word * 8 + 8,
                     changed.begin() + word * 8 + 8);
    EXPECT_NE(checksum(changed), whole) << word;
  }
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
  EXPECT_NE(checksum(bytes), whole);
}

TEST(Checksum, TellsLengthsOfZerosApart) {
  std::set<std::uint64_t> seen;
  for (std::size_t length = 0; length <= 200; ++length) {
    seen.insert(checksum(std::vector<std::byte>(length)));
  }
  EXPECT_EQ(seen.size(), 201u);
}

}  // namespace
}  // namespace crossbill::loader
