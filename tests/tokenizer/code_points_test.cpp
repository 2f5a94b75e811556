// Every Unicode code point, one by one, through the whole tokenizer.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "golden_files.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {
namespace {

constexpr char32_t kCodePoints = 0x110000;

std::string utf8(char32_t code_point) {
  char bytes[4];
  return {bytes, encode_code_point(code_point, bytes)};
}

char32_t hex(const std::string& digits) {
  return static_cast<char32_t>(std::stoul(digits, nullptr, 16));
}

/// The class of each code point, by the golden file's column, empty for surrogates.
std::vector<std::string> read_classes(const char* file, std::size_t column,
                                      std::vector<std::string> classes) {
  for (const std::string& line : split(read_golden(golden_folder() / file), '\n')) {
    if (!line.empty()) {
      const auto fields = split(line, '\t');
      for (char32_t c = hex(fields[0]); c <= hex(fields[1]); ++c) {
        classes[c] = fields[column];
      }
    }
  }
  return classes;
}

std::map<char32_t, std::u32string> read_mapping() {
  std::map<char32_t, std::u32string> mapping;
  for (const std::string& line : split(read_golden(golden_folder() / "normalized.tsv.gz"), '\n')) {
    if (!line.empty()) {
      const auto fields = split(line, '\t');
      std::u32string& form = mapping[hex(fields[0])];
      for (const std::string& part : split(fields[1], ' ')) {
        form += part.empty() ? std::u32string() : std::u32string(1, hex(part));
      }
    }
  }
  return mapping;
}

/// A vocabulary in which every normalised character can be seen: one token for it at the start of a word, one
/// for it inside. Ids are 2c and 2c + 1 in a list of the characters.
class CharacterVocabulary {
 public:
  CharacterVocabulary() {
    for (char32_t c = 0; c < kCodePoints; ++c) {
      if (c >= 0xD800 && c <= 0xDFFF) {
        continue;
      }
      const auto id = static_cast<std::int32_t>(tokens_.size());
      tokens_.emplace_back(utf8(c), id);
      tokens_.emplace_back(std::string("##").append(utf8(c)), id + 1);
    }
    vocabulary_ = Vocabulary::build(tokens_);
  }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// The words of a text as the tokenizer splits them.
  std::vector<std::string> words(const Tokenizer& tokenizer, const std::string& text) const {
    std::vector<std::string> words;
    for (const std::int32_t id : tokenizer.tokenize_side(text, whole()).ids) {
      const std::string& token = tokens_[static_cast<std::size_t>(id)].first;
      if (id % 2 == 0) {
        words.push_back(token);
      } else {
        words.back() += token.substr(2);
      }
    }
    return words;
  }

 private:
  std::vector<std::pair<std::string, std::int32_t>> tokens_;
  Vocabulary vocabulary_;
};

const CharacterVocabulary& characters() {
  static const CharacterVocabulary vocabulary;
  return vocabulary;
}

Tokenizer character_tokenizer(bool lowercase) {
  Settings settings;
  settings.lowercase = lowercase;
  return {settings, characters().vocabulary()};
}

/// "a" + the code point + "b" as the golden files say it is split.
std::vector<std::string> expected_words(const std::string& kind, const std::string& form) {
  if (kind == "REMOVED") {
    return {"ab"};
  }
  if (kind == "SPACE") {
    return {"a", "b"};
  }
  if (kind == "ISOLATED") {
    return {"a", form, "b"};
  }
  return {std::string("a").append(form).append("b")};
}

void expect_classes(const std::vector<std::string>& classes,
                    const std::map<char32_t, std::u32string>& mapping, bool lowercase) {
  const Tokenizer tokenizer = character_tokenizer(lowercase);
  std::size_t seen = 0;
  std::size_t wrong = 0;
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (classes[c].empty()) {
      continue;
    }
    ++seen;
    std::string form = utf8(c);
    if (const auto found = mapping.find(c); found != mapping.end()) {
      form.clear();
      for (const char32_t part : found->second) {
        form += utf8(part);
      }
    }
    const auto expected = expected_words(classes[c], form);
    const auto got = characters().words(tokenizer, std::string("a").append(utf8(c)).append("b"));
    if (got != expected && ++wrong <= 10) {
      ADD_FAILURE() << "U+" << std::hex << static_cast<std::uint32_t>(c) << " is " << classes[c] << ": "
                    << ::testing::PrintToString(got);
    }
  }
  EXPECT_EQ(seen, 1112064U);
  EXPECT_EQ(wrong, 0U);
}

TEST(CodePoints, UncasedClassAndMapping) {
  expect_classes(read_classes("codepoints.tsv.gz", 2, std::vector<std::string>(kCodePoints)), read_mapping(),
                 true);
}

TEST(CodePoints, CasedClass) {
  auto classes = read_classes("codepoints.tsv.gz", 2, std::vector<std::string>(kCodePoints));
  expect_classes(read_classes("cased_codepoints.tsv.gz", 3, std::move(classes)), {}, false);
}

TEST(CodePoints, TablesSayWhatTheLibrarySays) {
  const std::map<char, std::uint16_t> flags = {
      {'C', kRemovedByCleaning}, {'S', kSpaceByCleaning}, {'J', kChineseCharacter}, {'W', kWhiteSpace},
      {'P', kPunctuation},       {'M', kNonspacingMark},  {'w', kWordCharacter}};
  std::size_t seen = 0;
  std::set<char32_t> decomposed;
  std::set<char32_t> lowered;
  for (const std::string& line : split(read_golden(golden_folder() / "unicode_properties.tsv.gz"), '\n')) {
    const auto fields = split(line, '\t');
    if (fields[0] == "run") {
      std::uint16_t expected = 0;
      for (const char flag : fields[3] == "-" ? std::string() : fields[3]) {
        expected |= flags.at(flag);
      }
      for (char32_t c = hex(fields[1]); c <= hex(fields[2]); ++c, ++seen) {
        const auto got = properties_of(c);
        ASSERT_EQ(got.flags & 127, expected) << std::hex << static_cast<std::uint32_t>(c);
        ASSERT_EQ(got.combining_class, std::stoi(fields[4])) << std::hex << static_cast<std::uint32_t>(c);
      }
    } else if (fields[0] == "nfd" || fields[0] == "lower") {
      const char32_t c = hex(fields[1]);
      (fields[0] == "nfd" ? decomposed : lowered).insert(c);
      const Expansion got = fields[0] == "nfd" ? decompose(c) : lower_case(c);
      std::vector<char32_t> expected;
      for (const std::string& part : split(fields[2], ' ')) {
        expected.push_back(hex(part));
      }
      ASSERT_EQ(std::vector<char32_t>(got.code_points.begin(), got.code_points.begin() + got.count),
                expected);
    }
  }
  EXPECT_EQ(seen, 1112064U);
  for (char32_t c = 0; c < kCodePoints; ++c) {
    const bool hangul = c >= 0xAC00 && c < 0xAC00 + 11172;
    const auto flags_of = properties_of(c).flags;
    ASSERT_EQ((flags_of & kHasDecomposition) != 0, hangul || decomposed.count(c) != 0)
        << std::hex << std::uint32_t{c};
    ASSERT_EQ((flags_of & kHasLowerCase) != 0, lowered.count(c) != 0) << std::hex << std::uint32_t{c};
    if (lowered.count(c) == 0) {
      ASSERT_EQ(lower_case(c).code_points[0], c);
    }
    if (!hangul && decomposed.count(c) == 0) {
      ASSERT_EQ(decompose(c).code_points[0], c);
    }
  }
}

TEST(CodePoints, HangulSyllablesDecomposeByFormula) {
  const auto parts = [](char32_t c) {
    const Expansion e = decompose(c);
    return std::u32string(e.code_points.begin(), e.code_points.begin() + e.count);
  };
  EXPECT_EQ(parts(0xAC00), U"\u1100\u1161");        // 가
  EXPECT_EQ(parts(0xD55C), U"\u1112\u1161\u11AB");  // 한
  EXPECT_EQ(parts(0xD7A3), U"\u1112\u1175\u11C2");  // the last one
}

}  // namespace
}  // namespace crossbill::tokenizer
