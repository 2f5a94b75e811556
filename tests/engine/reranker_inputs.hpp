// Models and texts for tests of the public API.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crossbill/crossbill.hpp"

namespace crossbill::test {

inline const std::string kBundledModel = CROSSBILL_MODELS "/crossbill-minilm-l3.cbm";
inline const std::string kTinyModel = CROSSBILL_TEST_DATA "/tiny/one-label";
inline const std::string kThreeLabels = CROSSBILL_TEST_DATA "/tiny/three-labels";

/// The last part of a model's path, as part of a test's name.
inline std::string model_name(const ::testing::TestParamInfo<std::string>& model) {
  std::string name = model.param.substr(model.param.rfind('/') + 1);
  for (char& c : name) {
    if (c == '-' || c == '.') c = '_';
  }
  return name;
}

/// `words` words of plain English, some with accents, digits and punctuation.
inline std::string text_of(std::size_t words, std::mt19937& random) {
  static constexpr std::string_view kWords[] = {
      "the",   "river",       "runs",   "past",  "an",     "old",     "mill",   "café,",
      "where", "42",          "people", "grind", "wheat;", "in",      "winter", "snowfall",
      "is",    "heavy",       "and",    "roads", "close.", "Nobody",  "knows",  "exactly",
      "why",   "crossbills'", "bills",  "cross", "-",      "naïveté?"};
  std::string text;
  for (std::size_t w = 0; w < words; ++w) {
    if (w > 0) text += ' ';
    text += kWords[random() % std::size(kWords)];
  }
  return text;
}

/// Pairs of very different lengths; they own their texts.
class MixedPairs {
 public:
  MixedPairs(std::size_t count, unsigned seed, std::size_t longest = 120) {
    std::mt19937 random(seed);
    texts_.reserve(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view query = texts_.emplace_back(text_of(random() % 9, random));
      const std::size_t words = random() % 4 == 0 ? random() % (longest + 1) : random() % (longest / 4 + 1);
      pairs_.push_back({query, texts_.emplace_back(text_of(words, random))});
    }
  }
  operator std::span<const Pair>() const { return pairs_; }  // NOLINT: it is its pairs
  std::size_t size() const { return pairs_.size(); }
  const Pair& operator[](std::size_t i) const { return pairs_[i]; }
  std::vector<std::string_view> passages() const {
    std::vector<std::string_view> passages;
    for (const Pair& pair : pairs_) passages.push_back(pair.passage);
    return passages;
  }

 private:
  std::vector<std::string> texts_;
  std::vector<Pair> pairs_;
};

/// Logits and values as bits, so that comparing them is strict and NaN is equal to itself.
inline std::vector<std::uint32_t> bits_of(const Score& score) {
  std::vector<std::uint32_t> bits;
  for (const float x : score.logits) bits.push_back(std::bit_cast<std::uint32_t>(x));
  for (const float x : score.values) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}
inline std::vector<std::vector<std::uint32_t>> bits_of(std::span<const Score> scores) {
  std::vector<std::vector<std::uint32_t>> bits;
  for (const Score& score : scores) bits.push_back(bits_of(score));
  return bits;
}

/// "code: sentence" of the Error that `call` throws.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "nothing was thrown";
}

}  // namespace crossbill::test
