// Packing pairs into a batch, and the memory that a pass works in.
#include "engine/packed_batch.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "engine/arena.hpp"

namespace crossbill::engine {
namespace {

TEST(PackedBatch, PairsLieEndToEndWithoutPadding) {
  PackedBatch batch;
  EXPECT_EQ(batch.pairs(), 0u);
  EXPECT_EQ(batch.longest(), 0u);
  batch.append({{101, 7, 102, 102}, {0, 0, 0, 1}, false});
  batch.append({{101, 102, 8, 9, 10, 102}, {0, 0, 1, 1, 1, 1}, true});
  batch.append({{101, 102, 102}, {0, 0, 1}, false});
  EXPECT_EQ(batch.pairs(), 3u);
  EXPECT_EQ(batch.tokens(), 13u);
  EXPECT_EQ(batch.offsets, (std::vector<std::size_t>{0, 4, 10, 13}));
  EXPECT_EQ(batch.token_ids,
            (std::vector<std::int32_t>{101, 7, 102, 102, 101, 102, 8, 9, 10, 102, 101, 102, 102}));
  EXPECT_EQ(batch.type_ids, (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1}));
  EXPECT_EQ(batch.length(1), 6u);
  EXPECT_EQ(batch.longest(), 6u);
}

TEST(PackedBatch, ClearStartsOver) {
  PackedBatch batch;
  batch.append({{1, 2}, {0, 1}, false});
  batch.clear();
  EXPECT_EQ(batch.pairs(), 0u);
  EXPECT_EQ(batch.tokens(), 0u);
  batch.append({{3}, {0}, false});
  EXPECT_EQ(batch.offsets, (std::vector<std::size_t>{0, 1}));
}

TEST(Arena, ArraysAreAlignedAndApart) {
  Arena arena;
  arena.reset(Arena::bytes_of(5) + Arena::bytes_of(17) + Arena::bytes_of(1));
  float* first = arena.floats(5);
  float* second = arena.floats(17);
  float* third = arena.floats(1);
  for (float* array : {first, second, third}) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array) % 64, 0u);
  EXPECT_EQ(second - first, 16);
  EXPECT_EQ(third - second, 32);
  EXPECT_EQ(arena.used(), arena.limit());
}

TEST(Arena, GivesNoMoreThanWasAskedFor) {
  Arena arena;
  arena.reset(1024);
  arena.reset(64);  // keeps its 1024 bytes, but a pass that asked for 64 shall not get more
  EXPECT_EQ(arena.capacity(), 1024u);
  arena.floats(16);
  EXPECT_THROW(arena.floats(1), std::logic_error);
}

TEST(Arena, ResetHandsTheSameMemoryOutAgain) {
  Arena arena;
  arena.reset(256);
  const float* before = arena.floats(64);
  arena.reset(256);
  EXPECT_EQ(arena.floats(64), before);
}

}  // namespace
}  // namespace crossbill::engine
