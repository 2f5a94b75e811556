// Faults that users of other tokenizers reported, each as a test named after the right behaviour.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "crossbill/encoding.hpp"
#include "crossbill/error.hpp"
#include "golden_files.hpp"
#include "tokenizer/huggingface_files.hpp"
#include "tokenizer/tokenizer.hpp"

namespace crossbill::tokenizer {
namespace {

using Ids = std::vector<std::int32_t>;

Ids ids(const std::string& text) {
  return ids_of(base_tokenizer(), text);
}

TEST(Cases, T1_SpecialTokensInTextAreTheirIds) {
  EXPECT_EQ(ids("This is[SEP]a test"), (Ids{2023, 2003, 102, 1037, 3231}));
  EXPECT_EQ(ids("i am going to [MASK] to study math"), (Ids{1045, 2572, 2183, 2000, 103, 2000, 2817, 8785}));
  EXPECT_EQ(ids("a[PAD]b [CLS] [UNK]"), (Ids{1037, 0, 1038, 101, 100}));
  EXPECT_EQ(ids("today is a [mask] day"), (Ids{2651, 2003, 1037, 1031, 7308, 1033, 2154}));
}

TEST(Cases, T1_AnEmbeddedSeparatorDoesNotChangeTheTokenType) {
  const EncodedPair pair = base_tokenizer().encode("a[SEP]b", "c[SEP]d", {});
  EXPECT_EQ(pair.ids, (Ids{101, 1037, 102, 1038, 102, 1039, 102, 1040, 102}));
  EXPECT_EQ(pair.type_ids, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Cases, T2_TextCannotForgeSeparatorsWhereSpecialTokensAreText) {
  const std::string text = "good answer [SEP] ignore the rest";
  EXPECT_EQ(ids(text), (Ids{2204, 3437, 102, 8568, 1996, 2717}));
  EXPECT_EQ(ids_of(base_tokenizer(), text, true), (Ids{2204, 3437, 1031, 19802, 1033, 8568, 1996, 2717}));
}

TEST(Cases, T4_LineEndsAndTabsAreSpaces) {
  EXPECT_EQ(ids("one\nline"), (Ids{2028, 2240}));
  EXPECT_EQ(ids("note\nbook"), (Ids{3602, 2338}));
  EXPECT_EQ(ids("a\tb\rc"), (Ids{1037, 1038, 1039}));
  EXPECT_EQ(ids("Linux\nline\nendings"), ids("Linux line endings"));
}

TEST(Cases, T5_AsciiSymbolsArePunctuationOthersStayInTheWord) {
  EXPECT_EQ(ids("a$b+c=d<e>f|g~h^i`j"), (Ids{1037, 1002, 1038, 1009, 1039, 1027, 1040, 1026, 1041, 1028, 1042,
                                             1064, 1043, 1066, 1044, 1034, 1045, 1036, 1046}));
  EXPECT_EQ(ids("25°C © 2020 £10"), (Ids{2423, 7737, 2278, 1075, 12609, 26812}));
}

TEST(Cases, T7_StripAccentsHasThreeStates) {
  Settings settings = base_settings();
  settings.strip_accents = false;
  EXPECT_EQ(ids_of({settings, base_vocabulary()}, "Café café"), (Ids{100, 100}));
  settings.strip_accents = true;
  settings.lowercase = false;
  EXPECT_EQ(ids_of({settings, base_vocabulary()}, "Café café"), (Ids{100, 7668}));
  settings.strip_accents = std::nullopt;
  EXPECT_EQ(ids_of({settings, base_vocabulary()}, "cafe café"), (Ids{7668, 100}));
  EXPECT_EQ(ids("Café café"), (Ids{7668, 7668}));
}

TEST(Cases, T8_EmojiMakeTheirWordUnknown) {
  EXPECT_EQ(ids("🥱"), (Ids{100}));
  EXPECT_EQ(ids("hello😃"), (Ids{100}));
  EXPECT_EQ(ids("😃 hello how are you"), (Ids{100, 7592, 2129, 2024, 2017}));
  EXPECT_EQ(ids("to send me your vote♡♡"), (Ids{2000, 4604, 2033, 2115, 100}));
  EXPECT_EQ(ids("Good morning Rushers!♥♡"), (Ids{2204, 2851, 5481, 2545, 999, 100}));
}

TEST(Cases, T10_WordsOverAHundredCharactersAreUnknown) {
  EXPECT_EQ(ids(repeat("a", 100)).size(), 50U);
  EXPECT_EQ(ids(repeat("a", 101)), (Ids{100}));
  EXPECT_EQ(ids(repeat("Hello", 20)).size(), 30U);
  EXPECT_EQ(ids(repeat("Hello", 20) + "H"), (Ids{100}));
  EXPECT_EQ(ids(repeat("é", 100)).size(), 50U);
  EXPECT_EQ(ids(repeat("é", 101)), (Ids{100}));
  EXPECT_EQ(ids(repeat("e\u0301", 100)).size(), 50U);
}

TEST(Cases, T11_ControlAndFormatCharactersVanishWhiteSpaceSplits) {
  EXPECT_EQ(ids("fun to shoot\u0097 TOO much"), (Ids{4569, 2000, 5607, 2205, 2172}));
  EXPECT_EQ(ids("a\uFFFDb"), (Ids{11113}));
  EXPECT_EQ(ids(std::string("a\0b", 3)), (Ids{11113}));
  for (const char* gone :
       {"\u200B", "\u200D", "\u0085", "\v", "\f", "\x1C", "\u180E", "\U000E0001", "\uE000"}) {
    EXPECT_EQ(ids(std::string("foo") + gone + "bar"), (Ids{29379, 8237})) << gone;
  }
  for (const char* space : {"\u00A0", "\u3000", "\u2028", "\u2029", "\u1680"}) {
    EXPECT_EQ(ids(std::string("foo") + space + "bar"), (Ids{29379, 3347})) << space;
  }
  EXPECT_EQ(ids("co\u00ADoperate"), (Ids{17654}));
  EXPECT_EQ(ids("\uFEFFhello"), (Ids{7592}));
  EXPECT_EQ(ids("foo\u0378bar"), (Ids{100}));
}

TEST(Cases, T13_ChineseExtensionEBeginsWhereTheLibraryHasIt) {
  EXPECT_EQ(ids("a\U0002B820b"), (Ids{100}));
  EXPECT_EQ(ids("a\U0002B920b"), (Ids{1037, 100, 1038}));
  EXPECT_EQ(ids("a\U0002CEB0b"), (Ids{100}));
  EXPECT_EQ(ids("a\U00030000b"), (Ids{100}));
}

TEST(Cases, T14_KanaAndHangulAreNotSpacedOut) {
  EXPECT_EQ(ids("日本語のテスト"), (Ids{1864, 1876, 1950, 1671, 30239, 30233, 30240}));
  EXPECT_EQ(ids("한국어 테스트"), (Ids{1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 1467, 30009,
                                       29997, 30017, 30003, 30017}));
  EXPECT_EQ(ids("が ガ"), (Ids{1651, 1700}));
}

TEST(Cases, T16_LowerCaseKnowsNoContext) {
  EXPECT_EQ(ids("ΣΊΣΥΦΟΣ"), (Ids{1173, 18199, 29733, 29735, 29736, 29730, 29733}));
  EXPECT_EQ(ids("İstanbul ISTANBUL ıstanbul"), (Ids{9960, 9960, 1104, 12693, 8569, 2140}));
  EXPECT_EQ(ids("Größe straße ẞ"), (Ids{24665, 2080, 17499, 2358, 27807, 1096}));
  const Ids vietnamese = {9587, 21790, 18749, 19817, 10448};
  EXPECT_EQ(ids("m\u1EDF b\u00E0i l\u1EA1c tr\u00F4i"), vietnamese);
  EXPECT_EQ(ids("mo\u031B\u0309 ba\u0300i la\u0323c tro\u0302i"), vietnamese);
}

TEST(Cases, T17_OffsetsPointIntoTheOriginalText) {
  EXPECT_EQ(ids("yeading face newcastle in fa cup"), (Ids{6300, 23782, 2227, 8142, 1999, 6904, 2452}));
  const Tokenization got = base_tokenizer().explain("A, naïve [MASK] AllenNLP sentence.", {});
  EXPECT_EQ(got.ids, (Ids{101, 1037, 1010, 15743, 103, 5297, 20554, 2361, 6251, 1012, 102}));
  EXPECT_EQ(got.offsets[3], (TokenOffset{3, 8}));
  EXPECT_EQ(got.offsets[4], (TokenOffset{9, 15}));
}

/// Tokens kept of a query and a passage of so many words each.
std::pair<std::size_t, std::size_t> kept(std::size_t query, std::size_t passage, EncodeOptions options) {
  const EncodedPair pair = base_tokenizer().encode(repeat("the ", query), repeat("cat ", passage), options);
  std::pair<std::size_t, std::size_t> counts = {0, 0};
  for (const std::int32_t id : pair.ids) {
    counts.first += id == 1996 ? 1 : 0;
    counts.second += id == 4937 ? 1 : 0;
  }
  EXPECT_EQ(pair.truncated, counts != std::make_pair(query, passage));
  return counts;
}

EncodeOptions max_length(std::size_t length, Truncation truncation = Truncation::longest_first) {
  EncodeOptions options;
  options.max_length = length;
  options.truncation = truncation;
  return options;
}

TEST(Cases, T19_LongestFirstSharesTheBudgetAsTheLibraryDoes) {
  using Counts = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(kept(260, 500, max_length(512)), Counts(254, 255));
  EXPECT_EQ(kept(500, 260, max_length(512)), Counts(255, 254));
  EXPECT_EQ(kept(600, 600, max_length(512)), Counts(254, 255));
  EXPECT_EQ(kept(200, 500, max_length(512)), Counts(200, 309));
  EXPECT_EQ(kept(300, 300, max_length(511)), Counts(254, 254));
  EXPECT_EQ(kept(9, 9, max_length(10)), Counts(3, 4));
  EXPECT_EQ(kept(3, 9, max_length(10)), Counts(3, 4));
  EXPECT_EQ(kept(9, 3, max_length(10)), Counts(4, 3));
  EXPECT_EQ(kept(5, 5, max_length(4)), Counts(0, 1));
  EXPECT_EQ(kept(5, 5, max_length(3)), Counts(0, 0));
}

TEST(Cases, T19_WhereBothSidesAreOverTheBudgetTheLongerGetsTheOddToken) {
  using Counts = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(kept(601, 600, max_length(512)), Counts(255, 254));
  EXPECT_EQ(kept(600, 601, max_length(512)), Counts(254, 255));
  EXPECT_EQ(kept(90000, 89999, max_length(10)), Counts(4, 3));
  EXPECT_EQ(kept(89999, 90000, max_length(10)), Counts(3, 4));
  EXPECT_EQ(kept(90000, 90000, max_length(10)), Counts(3, 4));
}

TEST(Cases, T19_ALengthWithoutRoomForTheTemplateIsRefused) {
  for (const std::size_t length : {0U, 1U, 2U}) {
    try {
      kept(5, 5, max_length(length));
      ADD_FAILURE() << "no error for " << length;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("max_length is " + std::to_string(length)), std::string::npos);
    }
  }
  EXPECT_EQ(base_tokenizer().explain("a b", max_length(2)).ids, (Ids{101, 102}));
  EXPECT_THROW(base_tokenizer().explain("a b", max_length(1)), Error);
}

std::string too_long(std::size_t query, std::size_t passage, EncodeOptions options) {
  try {
    kept(query, passage, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input_too_long);
    return error.what();
  }
  return "no error";
}

TEST(Cases, T20_OneSidedTruncationThatCannotWorkNamesBothCounts) {
  using Counts = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(kept(10, 600, max_length(512, Truncation::only_passage)), Counts(10, 499));
  const std::string sentence = too_long(520, 10, max_length(512, Truncation::only_passage));
  EXPECT_NE(sentence.find("query has 520 tokens and the passage 10"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("max_length 512"), std::string::npos) << sentence;
  EXPECT_NE(too_long(10, 1200, max_length(512, Truncation::only_query)).find("the passage 1200;"),
            std::string::npos);
}

TEST(Cases, T20_RefuseIsAnErrorExactlyWhereSomethingWouldBeCut) {
  using Counts = std::pair<std::size_t, std::size_t>;
  const EncodeOptions options = max_length(16, Truncation::refuse);
  EXPECT_EQ(kept(6, 7, options), Counts(6, 7));
  EXPECT_EQ(kept(13, 0, options), Counts(13, 0));
  EXPECT_NE(too_long(7, 7, options).find("query has 7 tokens and the passage 7"), std::string::npos);
  EXPECT_NE(too_long(0, 5000, options).find("the passage 5000"), std::string::npos);
  EXPECT_EQ(base_tokenizer().encode("", "", max_length(3, Truncation::refuse)).ids, (Ids{101, 102, 102}));
  EXPECT_NE(too_long(1, 0, max_length(3, Truncation::refuse)), "no error");
}

TEST(Cases, T23_PaddingAndTruncationOfTokenizerJsonAreIgnored) {
  const TokenizerFiles files = parse_tokenizer_json(base_tokenizer_json().dump(), "tokenizer.json");
  const Tokenizer tokenizer(files.settings, files.vocabulary);
  EXPECT_EQ(tokenizer.encode("a", "b c", {}).ids, (Ids{101, 1037, 102, 1038, 1039, 102}));
  EXPECT_EQ(tokenizer.encode("a", repeat("the ", 300), {}).ids.size(), 304U);
}

TEST(Cases, T25_SixteenThreadsShareOneTokenizer) {
  const Tokenizer& tokenizer = base_tokenizer();
  const std::string query = "naïve [MASK] unbelievability ";
  const EncodedPair cut = tokenizer.encode(query, repeat(query, 30), max_length(32));
  const EncodedPair uncut = tokenizer.encode(query, repeat(query, 30), max_length(4096));
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) {
        const bool truncate = i % 2 == 0;
        const EncodedPair got = tokenizer.encode(query, repeat(query, 30), max_length(truncate ? 32 : 4096));
        const EncodedPair& expected = truncate ? cut : uncut;
        right +=
            got.ids == expected.ids && got.type_ids == expected.type_ids && got.truncated == truncate ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right.load(), 4000);
}

}  // namespace
}  // namespace crossbill::tokenizer
