#include "loader/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crossbill/error.hpp"
#include "tests/loader/expect_error.hpp"
#include "tests/loader/tensor_files.hpp"

namespace crossbill::loader {
namespace {

SafetensorsFile parse(const std::string& bytes) {
  const auto owner = std::make_shared<std::string>(bytes);
  return SafetensorsFile({std::as_bytes(std::span(*owner)), owner}, "m.safetensors");
}

SafetensorsFile parse(const std::string& header, std::size_t data_bytes) {
  return parse(with_header(header, std::string(data_bytes, '\1')));
}

void refuse(const std::string& header, std::size_t data_bytes, std::initializer_list<std::string> words) {
  expect_error([&] { parse(header, data_bytes); }, ErrorCode::bad_model, words);
}

/// A header with one tensor "w".
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST(Safetensors, ReadsTensorsInAnyOrder) {
  const auto file =
      parse(R"({"b":{"shape":[3],"data_offsets":[8,14],"dtype":"F16"},"__metadata__":{"format":"pt"},)"
            R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
            R"("c":{"dtype":"I64","shape":[],"data_offsets":[14,22]}}   )",
            22);
  ASSERT_EQ(file.entries().size(), 3u);
  const auto* a = file.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->shape, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(a->weight_dtype(), DType::f32);
  EXPECT_EQ(a->data.size(), 8u);
  EXPECT_EQ(file.find("b")->data.data(), a->data.data() + 8);
  EXPECT_EQ(file.find("b")->weight_dtype(), DType::f16);
  EXPECT_EQ(file.find("c")->data.size(), 8u);
  EXPECT_FALSE(file.find("c")->weight_dtype());
  EXPECT_EQ(file.find("d"), nullptr);
}

TEST(Safetensors, EmptyTensorsAreFine) {
  const auto file = parse(R"({"e":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]},)"
                          R"("f":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                          4);
  EXPECT_EQ(file.find("e")->data.size(), 0u);
  EXPECT_EQ(parse("{}", 0).entries().size(), 0u);
}

TEST(Safetensors, TruncatedAnywhereIsAnError) {
  const std::string whole = with_header(one("F32", "[2]", "[0,8]"), "12345678");
  parse(whole);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    expect_error([&] { parse(whole.substr(0, length)); }, ErrorCode::bad_model, {"m.safetensors"});
  }
}

TEST(Safetensors, HeaderLongerThanTheFileIsAnError) {
  std::string file = with_header("{}", "");
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::memcpy(file.data(), &length, sizeof length);
    expect_error([&] { parse(file); }, ErrorCode::bad_model, {"m.safetensors", std::to_string(length)});
  }
}

TEST(Safetensors, OffsetsMustLieInTheFile) {
  refuse(one("F32", "[2]", "[0,8]"), 4, {"m.safetensors", "\"w\"", "0 to 8", "4"});
  refuse(one("F32", "[2]", "[8,0]"), 8, {"\"w\"", "8 to 0"});
  refuse(one("F32", "[2]", "[18446744073709551608,18446744073709551615]"), 8, {"\"w\""});
  refuse(one("F32", "[2]", "[-8,0]"), 8, {"\"w\"", "negative"});
  refuse(one("F32", "[2]", "[0,18446744073709551616]"), 8, {"\"w\"", "whole"});
  refuse(one("F32", "[2]", "[0,8.0]"), 8, {"\"w\"", "whole"});
  refuse(one("F32", "[2]", "[0]"), 8, {"\"w\"", "two"});
  refuse(one("F32", "[2]", "[0,4,8]"), 8, {"\"w\""});
}

TEST(Safetensors, BytesMustBeShapeTimesType) {
  refuse(one("F32", "[3]", "[0,8]"), 8, {"\"w\"", "[3]", "F32", "12", "8"});
  refuse(one("F16", "[2,2]", "[0,16]"), 16, {"\"w\"", "[2, 2]", "8", "16"});
}

TEST(Safetensors, OverflowingShapesAreAnError) {
  refuse(one("F32", "[4611686018427387904]", "[0,0]"), 0, {"\"w\"", "overflows"});
  refuse(one("F32", "[4294967296,4294967296]", "[0,0]"), 0, {"\"w\"", "overflows"});
  refuse(one("U8", "[18446744073709551615,2,0]", "[0,0]"), 0, {"\"w\"", "overflows"});
  refuse(one("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, {"\"w\"", "dimensions"});
}

TEST(Safetensors, UnknownTypesAreNamed) {
  refuse(one("F12", "[2]", "[0,3]"), 3, {"\"w\"", "F12"});
  refuse(one("f32", "[1]", "[0,4]"), 4, {"\"w\"", "f32"});
  refuse(one("", "[1]", "[0,4]"), 4, {"\"w\""});
}

TEST(Safetensors, OverlapsAndGapsAreErrors) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  EXPECT_EQ(parse(two("[4,8]", "[0,4]"), 8).entries().size(), 2u);
  refuse(two("[0,4]", "[3,7]"), 7, {"\"b\"", "overlaps"});
  refuse(two("[0,4]", "[0,4]"), 4, {"overlaps"});
  refuse(two("[0,4]", "[5,9]"), 9, {"\"b\"", "gap"});
  refuse(two("[1,5]", "[5,9]"), 9, {"\"a\"", "gap"});
  refuse(two("[0,4]", "[4,8]"), 9, {"1 byte", "no tensor"});
}

TEST(Safetensors, DuplicateKeysAreErrors) {
  refuse(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
      2, {"\"a\"", "twice"});
  refuse(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
         {"\"a\"", "dtype", "twice"});
  refuse(R"({"__metadata__":{"format":"pt"},"__metadata__":{"format":"pt"}})", 0, {"__metadata__", "twice"});
}

TEST(Safetensors, HeadersOfAnotherFormAreErrors) {
  for (const char* header : {"",
                             " ",
                             "[]",
                             "null",
                             "1",
                             "\"x\"",
                             "{",
                             "{\"a\"",
                             "{\"a\":1}",
                             "{\"a\":[]}",
                             "{\"a\":{}}",
                             "{\"a\":null}",
                             R"({"a":{"dtype":"U8","shape":[1]}})",
                             R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,1]}})",
                             R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})",
                             R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})",
                             R"({"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})",
                             R"({"a":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}})",
                             R"({"a":{"dtype":"U8","shape":[1],"data_offsets":{}}})",
                             R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})",
                             R"({"__metadata__":{"a":1}})",
                             R"({"__metadata__":{"a":{}}})",
                             R"({"__metadata__":[]})",
                             "{}{}",
                             "{} x",
                             "{\"\xff\":{}}"}) {
    refuse(header, 1, {"m.safetensors"});
  }
}

TEST(Safetensors, DeepNestingIsAnError) {
  refuse(std::string(1'000'000, '['), 0, {"m.safetensors"});
  refuse("{\"a\":" + std::string(1'000'000, '['), 0, {"m.safetensors", "\"a\""});
  refuse("{\"__metadata__\":" + std::string(1'000'000, '{'), 0, {"m.safetensors"});
}

}  // namespace
}  // namespace crossbill::loader
