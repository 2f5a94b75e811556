// Byte strings that are not UTF-8, against Python's bytes.decode("utf-8", errors="replace").
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "golden_files.hpp"
#include "tokenizer/utf8.hpp"

namespace crossbill::tokenizer {
namespace {

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

/// Folds the decoded `data` and a line feed into a CRC-32.
void fold(uLong& crc, const std::string& data) {
  const std::string read = replace_invalid(data) + "\n";
  crc = crc32(crc, reinterpret_cast<const Bytef*>(read.data()), static_cast<uInt>(read.size()));
}

uLong crc_of_three(char lead) {
  uLong crc = 0;
  std::string data = {lead, 0, 0};
  for (int b = 0; b < 256; ++b) {
    for (int c = 0; c < 256; ++c) {
      data[1] = static_cast<char>(b);
      data[2] = static_cast<char>(c);
      fold(crc, data);
    }
  }
  return crc;
}

uLong crc_of_four(char lead) {
  const std::string edges = bytes_of("00417f808f909fa0bfc0c2dfe0edf0f4f5ff");
  uLong crc = 0;
  for (const char b : edges) {
    for (const char c : edges) {
      for (const char d : edges) {
        fold(crc, {lead, b, c, d});
      }
    }
  }
  return crc;
}

TEST(Utf8, InvalidBytesAreReadAsPythonReadsThem) {
  std::size_t lines = 0;
  for (const std::string& line : split(read_golden(golden_folder() / "invalid_utf8.tsv"), '\n')) {
    if (line.empty()) {
      continue;
    }
    ++lines;
    const auto fields = split(line, '\t');
    const std::string bytes = bytes_of(fields[1]);
    if (fields[0] == "text") {
      const std::string expected = bytes_of(fields[2]);
      EXPECT_EQ(replace_invalid(bytes), expected) << fields[1];
      EXPECT_EQ(is_valid_utf8(bytes), bytes == expected) << fields[1];
      EXPECT_TRUE(is_valid_utf8(expected));
      EXPECT_EQ(count_code_points(bytes), count_code_points(expected));
    } else {
      const uLong crc = fields[0] == "three" ? crc_of_three(bytes[0]) : crc_of_four(bytes[0]);
      EXPECT_EQ(crc, std::stoul(fields[2], nullptr, 16)) << fields[0] << " " << fields[1];
    }
  }
  EXPECT_EQ(lines, 256U + 64U + 300U);
}

TEST(Utf8, BackwardStepsMirrorForwardSteps) {
  for (const std::string& line : split(read_golden(golden_folder() / "invalid_utf8.tsv"), '\n')) {
    const auto fields = split(line, '\t');
    if (fields[0] != "text") {
      continue;
    }
    const std::string bytes = bytes_of(fields[1]);
    for (std::size_t at = 0; at < bytes.size();) {
      const DecodedCodePoint forward = decode_code_point(bytes, at);
      at += forward.bytes;
      EXPECT_EQ(decode_code_point_before(bytes, at).value, forward.value) << fields[1] << " before " << at;
    }
  }
}

TEST(Utf8, OffsetsCountReplacedSequencesAsCodePoints) {
  // "\xE2\x82" is one U+FFFD, which the clean-up removes; the offsets still count it.
  const auto got = base_tokenizer().explain("a \xE2\x82 b\xFF\xFE c", whole());
  EXPECT_EQ(got.tokens, (std::vector<std::string>{"[CLS]", "a", "b", "c", "[SEP]"}));
  EXPECT_EQ(as_lists(got.offsets),
            (std::vector<std::vector<std::uint32_t>>{{0, 0}, {0, 1}, {4, 5}, {8, 9}, {0, 0}}));
}

TEST(Utf8, AddedTokenWithReplacementCharacterIsFoundInInvalidBytes) {
  Settings settings = base_settings();
  AddedToken token;
  token.id = 30522;
  token.content = "x\uFFFDy";
  settings.added_tokens.push_back(token);
  const Tokenizer tokenizer(settings, base_vocabulary());
  EXPECT_EQ(ids_of(tokenizer, "a x\xF0\x9Fy b"), (std::vector<std::int32_t>{1037, 30522, 1038}));
  EXPECT_EQ(tokenizer.id_limit(), 30523U);
}

}  // namespace
}  // namespace crossbill::tokenizer
