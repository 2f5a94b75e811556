// The vocabulary block: what is built can be found, what is damaged is refused or harmless.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "golden_files.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {
namespace {

using Tokens = std::vector<std::pair<std::string, std::int32_t>>;

std::string refusal(const Tokens& tokens) {
  try {
    Vocabulary::build(tokens);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_model);
    return error.what();
  }
  return "no error";
}

/// A block of its own, misaligned on purpose.
struct Copy {
  std::vector<std::byte> bytes;
  explicit Copy(std::span<const std::byte> block) : bytes(1) {
    for (const std::byte byte : block) {
      bytes.push_back(byte);
    }
  }
  std::span<std::byte> block() { return std::span(bytes).subspan(1); }
};

TEST(Vocabulary, EveryTokenIsFoundAndSpelled) {
  const Vocabulary& vocabulary = base_vocabulary();
  const auto lines = split(read_golden(golden_folder() / "vocab.txt"), '\n');
  ASSERT_EQ(vocabulary.size(), 30522U);
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    ASSERT_EQ(vocabulary.find(lines[i]), static_cast<std::int32_t>(i)) << lines[i];
    ASSERT_EQ(vocabulary.token(static_cast<std::int32_t>(i)), lines[i]);
    EXPECT_EQ(vocabulary.find(lines[i] + "\u2603"), std::nullopt);
  }
  for (const std::int32_t outside : {-1, 30522, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(vocabulary.token(outside), "");
  }
}

TEST(Vocabulary, LastIdWinsAndLeavesAGap) {
  const Vocabulary vocabulary = Vocabulary::build({{"a", 0}, {"b", 1}, {"a", 3}, {"", 5}});
  EXPECT_EQ(vocabulary.size(), 6U);
  EXPECT_EQ(vocabulary.find("a"), 3);
  EXPECT_EQ(vocabulary.token(0), "");
  EXPECT_EQ(vocabulary.find(""), 5);
  EXPECT_EQ(vocabulary.find("c"), std::nullopt);
}

TEST(Vocabulary, EmptyOneFindsNothing) {
  for (const Vocabulary& vocabulary : {Vocabulary(), Vocabulary::build({})}) {
    EXPECT_EQ(vocabulary.size(), 0U);
    EXPECT_EQ(vocabulary.find(""), std::nullopt);
    EXPECT_EQ(vocabulary.find("a"), std::nullopt);
    EXPECT_EQ(vocabulary.token(0), "");
  }
}

TEST(Vocabulary, TokensOfEveryLengthAreTold) {
  Tokens tokens;
  for (std::int32_t length = 0; length < 300; ++length) {
    tokens.emplace_back(repeat("x", static_cast<std::size_t>(length)), length);
    tokens.emplace_back(repeat("x", static_cast<std::size_t>(length)) + "y", 300 + length);
  }
  const Vocabulary vocabulary = Vocabulary::build(tokens);
  for (const auto& [token, id] : tokens) {
    EXPECT_EQ(vocabulary.find(token), id);
  }
}

TEST(Vocabulary, BadIdsAreRefusedByName) {
  EXPECT_NE(refusal({{"a", 0}, {"minus", -1}}).find("\"minus\" has id -1"), std::string::npos);
  EXPECT_NE(refusal({{"a", 0}, {"far", INT32_MAX}}).find("\"far\" has id 2147483647"), std::string::npos);
  EXPECT_NE(refusal({{"one", 7}, {"two", 7}}).find("both have id 7"), std::string::npos);
  EXPECT_NE(refusal({{"\xC3", 0}, {"\xA9", 1}}).find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(refusal({{std::string(5000, 'x'), 0}}).find("5000 bytes"), std::string::npos);
}

TEST(Vocabulary, AViewReadsTheBlockInPlace) {
  Copy copy(base_vocabulary().block());
  auto owner = std::make_shared<int>(0);
  {
    const Vocabulary vocabulary = Vocabulary::view(copy.block(), owner);
    EXPECT_EQ(vocabulary.block().data(), copy.block().data());
    EXPECT_EQ(vocabulary.find("hello"), 7592);
    EXPECT_EQ(owner.use_count(), 2);
    const Vocabulary second = vocabulary;
    EXPECT_EQ(owner.use_count(), 3);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Vocabulary, TruncatedBlocksAreRefused) {
  const Vocabulary vocabulary = Vocabulary::build({{"a", 0}, {"##b", 1}, {"hello world", 2}});
  Copy copy(vocabulary.block());
  for (std::size_t bytes = 0; bytes < copy.block().size(); ++bytes) {
    EXPECT_THROW(Vocabulary::view(copy.block().first(bytes), nullptr), Error) << bytes;
  }
}

std::string view_refusal(std::span<const std::byte> block) {
  try {
    Vocabulary::view(block, nullptr);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Vocabulary, ABlockWhoseTokensAreNoUtf8IsRefused) {
  const Vocabulary vocabulary = Vocabulary::build({{"a long ascii beginning", 0}, {"é", 1}, {"b", 2}});
  Copy invalid(vocabulary.block());
  // The text ends with C3 A9 62, then eight bytes of padding; the offsets before it are those of four ids.
  const std::size_t text_end = invalid.block().size() - 8;
  invalid.block()[text_end - 3] = std::byte{0xFF};
  EXPECT_NE(view_refusal(invalid.block()).find("not valid UTF-8"), std::string::npos);
  Copy cut(vocabulary.block());
  const std::size_t offset_of_b = text_end - 25 - 8;
  ASSERT_EQ(cut.block()[offset_of_b], std::byte{24});
  cut.block()[offset_of_b] = std::byte{23};
  EXPECT_NE(view_refusal(cut.block()).find("token 2 begins inside a character"), std::string::npos);
}

TEST(Vocabulary, EveryChangedBitIsRefusedOrHarmless) {
  const Tokens tokens = {{"a", 0}, {"##b", 1}, {"hello world", 2}, {"", 4}, {"é", 5}};
  const Vocabulary vocabulary = Vocabulary::build(tokens);
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < 8 * vocabulary.block().size(); ++bit) {
    Copy copy(vocabulary.block());
    copy.block()[bit / 8] ^= std::byte{1} << (bit % 8);
    try {
      const Vocabulary changed = Vocabulary::view(copy.block(), nullptr);
      ++accepted;
      // What is accepted must be a sound vocabulary of its own: every token it spells, it finds.
      for (std::int32_t id = 0; id < static_cast<std::int32_t>(changed.size()); ++id) {
        if (!changed.token(id).empty()) {
          EXPECT_EQ(changed.find(changed.token(id)), id) << "bit " << bit;
        }
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_model);
    }
  }
  // Most bits are noticed; a different head and length of an empty slot, for example, change nothing.
  EXPECT_LT(accepted, 8 * vocabulary.block().size() / 2);
}

TEST(Vocabulary, RandomDamageNeverBreaksALookup) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Copy copy(
        Vocabulary::build({{"a", 0}, {"##b", 1}, {"hello world", 2}, {"word", 3}, {"##piece", 4}}).block());
    for (int change = 0; change < 3; ++change) {
      copy.block()[random() % copy.block().size()] = static_cast<std::byte>(random());
    }
    try {
      const Vocabulary changed = Vocabulary::view(copy.block(), nullptr);
      changed.find("hello world");
      changed.find("nothing of the kind");
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace crossbill::tokenizer
