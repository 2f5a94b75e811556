// Long and hostile texts: work in proportion to the text, and none beyond the cut. The sizes are such that a
// quadratic algorithm would run for hours.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "crossbill/encoding.hpp"
#include "golden_files.hpp"
#include "tokenizer/tokenizer.hpp"

namespace crossbill::tokenizer {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::size_t kMegabyte = 1 << 20;

EncodeOptions max_length(std::size_t length, TruncationSide side = TruncationSide::right) {
  EncodeOptions options;
  options.max_length = length;
  options.side = side;
  return options;
}

TEST(HostileText, OneWordOfAMegabyteIsOneUnknownToken) {
  EXPECT_EQ(ids_of(base_tokenizer(), repeat("a", 4 * kMegabyte)), (Ids{100}));
  EXPECT_EQ(ids_of(base_tokenizer(), repeat("é", 2 * kMegabyte)), (Ids{100}));
  const auto explained = base_tokenizer().explain(repeat("é", kMegabyte), {});
  EXPECT_EQ(explained.offsets[1], (TokenOffset{0, kMegabyte}));
}

TEST(HostileText, BracketsAreOneTokenEach) {
  EXPECT_EQ(ids_of(base_tokenizer(), repeat("[", 4 * kMegabyte)), Ids(4 * kMegabyte, 1031));
}

TEST(HostileText, CombiningMarksLeaveNothing) {
  // Two classes take turns, so that every mark has to be put in order.
  const std::string marks = repeat("\u0301\u0323", kMegabyte);
  EXPECT_EQ(ids_of(base_tokenizer(), marks), Ids{});
  EXPECT_EQ(ids_of(base_tokenizer(), std::string("a").append(marks).append("b")), (Ids{11113}));
  EXPECT_TRUE(base_tokenizer().tokenize_side(marks, {}).complete);
}

TEST(HostileText, MarksThatStayAreOrderedAndUnknown) {
  // U+08D4 came after Unicode 8.0: the library orders it, but doesn't take it for a mark to remove.
  EXPECT_EQ(ids_of(base_tokenizer(), std::string("a").append(repeat("\u08D4\u302E", kMegabyte))), (Ids{100}));
}

TEST(HostileText, ChineseCharactersAreOneTokenEach) {
  EXPECT_EQ(ids_of(base_tokenizer(), repeat("的", kMegabyte)), Ids(kMegabyte, 1916));
}

TEST(HostileText, SeparatorsAndTheirBeginningsAreFoundInOnePass) {
  EXPECT_EQ(ids_of(base_tokenizer(), repeat("[SEP]", kMegabyte / 2)), Ids(kMegabyte / 2, 102));
  EXPECT_EQ(ids_of(base_tokenizer(), repeat("[SE", kMegabyte)).size(), 2 * kMegabyte);
}

TEST(HostileText, WordsThatAreAlmostKnownCostNoMoreThanTheirLength) {
  // A hundred characters that split into pieces, then one that no piece has.
  EXPECT_EQ(ids_of(base_tokenizer(), repeat(repeat("un", 49).append("☃ "), 40000)), Ids(40000, 100));
}

TEST(HostileText, StrippingAddedTokensDoNotReadWhiteSpaceTwice) {
  Settings settings = base_settings();
  for (AddedToken& token : settings.added_tokens) {
    token.lstrip = true;
    token.rstrip = true;
  }
  const Tokenizer tokenizer(settings, base_vocabulary());
  EXPECT_EQ(ids_of(tokenizer, repeat("[MASK] ", kMegabyte / 4)), Ids(kMegabyte / 4, 103));
  EXPECT_EQ(ids_of(tokenizer, repeat(" ", 8 * kMegabyte) + "[MASK]"), (Ids{103}));
}

TEST(LongText, NothingBehindTheCutIsRead) {
  // A million calls on ten megabytes each would read ten terabytes.
  const std::string passage = repeat("the ", 10 * kMegabyte / 4);
  std::size_t tokens = 0;
  for (int call = 0; call < 20000; ++call) {
    tokens += base_tokenizer().encode("cat", passage, max_length(16)).ids.size();
  }
  EXPECT_EQ(tokens, 20000U * 16);
  const EncodedPair pair = base_tokenizer().encode("cat", passage, max_length(512));
  EXPECT_TRUE(pair.truncated);
  EXPECT_EQ(pair.ids.size(), 512U);
}

/// What a cut on the right must give: all tokens, then the first of them.
void expect_cut_of_whole(const std::string& text, std::size_t length) {
  const Ids all = ids_of(base_tokenizer(), text);
  const EncodedPair pair = base_tokenizer().encode("", text, max_length(length));
  Ids expected = {101, 102};
  expected.insert(expected.end(), all.begin(),
                  all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), length - 3)));
  expected.push_back(102);
  EXPECT_EQ(pair.ids, expected) << text.substr(0, 60) << " at " << length;
  EXPECT_EQ(pair.truncated, all.size() > length - 3) << text.substr(0, 60) << " at " << length;
}

TEST(LongText, StoppingEarlyGivesWhatCuttingTheWholeGives) {
  std::vector<std::string> texts;
  for (const char* tail :
       {"", " ", "\n\t ", "\u0301", "\u200B\u0301 ", ".", " x", "[SEP]", "的", "\xFF", "é"}) {
    texts.push_back("unbelievability the café" + std::string(tail));
    texts.push_back("the the[MASK]" + std::string(tail));
    texts.push_back(std::string(tail) + "the 的的" + std::string(tail) + tail);
  }
  for (const std::string& text : texts) {
    for (std::size_t length = 3; length < 14; ++length) {
      expect_cut_of_whole(text, length);
    }
  }
}

TEST(LongText, ABlankRestIsNoTruncation) {
  const std::string blank = repeat(" \n", 5 * kMegabyte);
  EXPECT_FALSE(base_tokenizer().encode("cat", "the the" + blank, max_length(6)).truncated);
  EXPECT_TRUE(base_tokenizer().encode("cat", "the the" + blank + ".", max_length(6)).truncated);
}

TEST(LongText, LeftTruncationKeepsTheEnd) {
  const std::string passage = repeat("the ", kMegabyte).append("cat sat");
  const EncodedPair pair = base_tokenizer().encode("", passage, max_length(6, TruncationSide::left));
  EXPECT_EQ(pair.ids, (Ids{101, 102, 1996, 4937, 2938, 102}));
}

TEST(LongText, JoiningTwoSidesThatWereCutEqualsEncoding) {
  const std::string shorter = repeat("the ", 1000);
  const std::string longer = repeat("cat ", 1001);
  for (const auto& [query, passage] : {std::pair(shorter, longer), std::pair(longer, shorter)}) {
    for (std::size_t length = 3; length < 40; ++length) {
      const auto options = max_length(length);
      const SideTokens first = base_tokenizer().tokenize_side(query, options);
      const SideTokens second = base_tokenizer().tokenize_side(passage, options);
      EXPECT_FALSE(first.complete);
      EXPECT_EQ(first.ids.size(), length - 3);
      EXPECT_EQ(base_tokenizer().join(first, second, options).ids,
                base_tokenizer().explain(query, passage, options).ids);
    }
  }
}

}  // namespace
}  // namespace crossbill::tokenizer
