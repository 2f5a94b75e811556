#include "tokenizer/unicode.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace crossbill::tokenizer {
namespace {

/// first, first + step, …, last have their lower case `delta` further on.
struct LowerCaseRun {
  char32_t first;
  char32_t last;
  std::uint32_t step;
  std::int32_t delta;
};

struct LowerCasePair {
  char32_t code_point;
  char32_t first;
  char32_t second;
};

#include "tokenizer/unicode_tables.inc"

// Hangul syllables are a product of leading consonants, vowels and trailing consonants (Unicode,
// chapter 3.12).
constexpr char32_t kFirstSyllable = 0xAC00;
constexpr char32_t kSyllables = 11172;
constexpr char32_t kFirstLeading = 0x1100;
constexpr char32_t kFirstVowel = 0x1161;
constexpr char32_t kBeforeTrailing = 0x11A7;
constexpr char32_t kVowels = 21;
constexpr char32_t kTrailings = 28;

constexpr std::size_t kBlock = 128;

Expansion decompose_syllable(char32_t syllable) noexcept {
  const char32_t index = syllable - kFirstSyllable;
  Expansion parts;
  parts.code_points[0] = kFirstLeading + index / (kVowels * kTrailings);
  parts.code_points[1] = kFirstVowel + index / kTrailings % kVowels;
  parts.count = 2;
  if (index % kTrailings != 0) {
    parts.code_points[parts.count++] = kBeforeTrailing + index % kTrailings;
  }
  return parts;
}

}  // namespace

CodePointProperties properties_of(char32_t code_point) noexcept {
  if (code_point - kFirstSyllable < kSyllables) {
    return {kWordCharacter | kHasDecomposition, 0};
  }
  const std::size_t block = kBlockOfCodePoint[code_point / kBlock];
  return kRecords[kRecordInBlock[block * kBlock + code_point % kBlock]];
}

Expansion decompose(char32_t code_point) noexcept {
  if (code_point - kFirstSyllable < kSyllables) {
    return decompose_syllable(code_point);
  }
  const auto* found = std::lower_bound(std::begin(kDecomposed), std::end(kDecomposed), code_point);
  if (found == std::end(kDecomposed) || *found != code_point) {
    return {{code_point}, 1};
  }
  const auto index = static_cast<std::size_t>(found - std::begin(kDecomposed));
  Expansion parts;
  for (std::size_t i = kPartsBegin[index]; i < kPartsBegin[index + 1]; ++i) {
    parts.code_points[parts.count++] = kParts[i];
  }
  return parts;
}

Expansion lower_case(char32_t code_point) noexcept {
  const auto* run = std::lower_bound(std::begin(kLowerCaseRuns), std::end(kLowerCaseRuns), code_point,
                                     [](const LowerCaseRun& r, char32_t c) { return r.last < c; });
  if (run != std::end(kLowerCaseRuns) && code_point >= run->first &&
      (code_point - run->first) % run->step == 0) {
    return {{static_cast<char32_t>(static_cast<std::int32_t>(code_point) + run->delta)}, 1};
  }
  for (const LowerCasePair& pair : kLowerCasePairs) {
    if (pair.code_point == code_point) {
      return {{pair.first, pair.second}, 2};
    }
  }
  return {{code_point}, 1};
}

}  // namespace crossbill::tokenizer
