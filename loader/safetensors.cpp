#include "loader/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/file_bytes.hpp"
#include "loader/message.hpp"
#include "loader/safetensors_header.hpp"

namespace crossbill::loader {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit

struct TypeSize {
  std::string_view name;
  std::uint64_t bytes;
};
// Types that are not weights occur as buffers (position_ids is I64); their size is needed to check the
// layout.
constexpr std::array<TypeSize, 17> kTypes{{{"F32", 4},
                                           {"F16", 2},
                                           {"BF16", 2},
                                           {"F64", 8},
                                           {"I64", 8},
                                           {"I32", 4},
                                           {"I16", 2},
                                           {"I8", 1},
                                           {"U64", 8},
                                           {"U32", 4},
                                           {"U16", 2},
                                           {"U8", 1},
                                           {"BOOL", 1},
                                           {"F8_E4M3", 1},
                                           {"F8_E5M2", 1},
                                           {"F8_E8M0", 1},
                                           {"C64", 8}}};

/// Bytes of shape × type, or nothing if that exceeds 64 bits.
std::optional<std::uint64_t> byte_count(std::span<const std::uint64_t> shape, std::uint64_t element) {
  std::uint64_t count = element;
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) {
      return std::nullopt;
    }
  }
  return count;
}

/// Checks one entry against the data part of the file.
SafetensorsEntry place(SafetensorsHeaderEntry&& stated, std::span<const std::byte> data,
                       const std::string& file) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_model, file + ": tensor " + in_quotes(stated.name) + " " + what);
  };
  const auto* type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeSize& t) { return t.name == stated.dtype; });
  if (type == kTypes.end()) {
    fail("has the unknown dtype " + in_quotes(stated.dtype));
  }
  const auto [begin, end] = stated.data_offsets;
  if (begin > end || end > data.size()) {
    fail("lies at bytes " + std::to_string(begin) + " to " + std::to_string(end) +
         " of the data, but there are " + std::to_string(data.size()));
  }
  const auto bytes = byte_count(stated.shape, type->bytes);
  if (!bytes) {
    fail("has the shape " + shape_text(stated.shape) + ", which overflows");
  }
  if (*bytes != end - begin) {
    fail("of shape " + shape_text(stated.shape) + " and dtype " + stated.dtype + " takes " +
         std::to_string(*bytes) + " bytes, but its data_offsets span " + std::to_string(end - begin));
  }
  return {std::move(stated.name), std::move(stated.dtype), std::move(stated.shape),
          data.subspan(begin, end - begin)};
}

/// Every byte of the data belongs to exactly one tensor.
void check_coverage(std::span<const SafetensorsEntry> entries, std::span<const std::byte> data,
                    const std::string& file) {
  std::vector<const SafetensorsEntry*> by_offset;
  by_offset.reserve(entries.size());
  for (const auto& entry : entries) {
    by_offset.push_back(&entry);
  }
  const auto key = [](const SafetensorsEntry* e) { return std::pair(e->data.data(), e->data.size()); };
  std::sort(by_offset.begin(), by_offset.end(),
            [&](const auto* a, const auto* b) { return key(a) < key(b); });
  const std::byte* covered = data.data();
  for (const auto* entry : by_offset) {
    if (entry->data.data() != covered) {
      throw Error(ErrorCode::bad_model,
                  file + ": tensor " + in_quotes(entry->name) +
                      (entry->data.data() < covered ? " overlaps the one before it"
                                                    : " leaves a gap after the one before it"));
    }
    covered += entry->data.size();
  }
  if (covered != data.data() + data.size()) {
    throw Error(ErrorCode::bad_model, file + ": " + std::to_string(data.data() + data.size() - covered) +
                                          " bytes at its end belong to no tensor");
  }
}

}  // namespace

std::optional<DType> SafetensorsEntry::weight_dtype() const {
  if (dtype == "F32") {
    return DType::f32;
  }
  if (dtype == "F16") {
    return DType::f16;
  }
  if (dtype == "BF16") {
    return DType::bf16;
  }
  return std::nullopt;
}

SafetensorsFile::SafetensorsFile(FileBytes file, std::string name)
    : file_(std::move(file)), name_(std::move(name)) {
  const std::span<const std::byte> bytes = file_.bytes;
  std::uint64_t header_bytes = 0;
  if (bytes.size() < kLengthBytes) {
    throw Error(ErrorCode::bad_model,
                name_ + ": " + std::to_string(bytes.size()) + " bytes are too few for a safetensors file");
  }
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes > bytes.size() - kLengthBytes || header_bytes > kLongestHeader) {
    throw Error(ErrorCode::bad_model, name_ + ": states a header of " + std::to_string(header_bytes) +
                                          " bytes, but the file has " + std::to_string(bytes.size()) +
                                          "; it is cut short or not a safetensors file");
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data() + kLengthBytes);
  const auto data = bytes.subspan(kLengthBytes + header_bytes);
  auto stated = parse_safetensors_header({text, header_bytes}, name_);
  entries_.reserve(stated.size());
  for (auto& entry : stated) {
    entries_.push_back(place(std::move(entry), data, name_));
  }
  std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(entries_.begin(), entries_.end(),
                                        [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != entries_.end()) {
    throw Error(ErrorCode::bad_model,
                name_ + ": tensor " + in_quotes(twice->name) + " stands twice in the header");
  }
  check_coverage(entries_, data, name_);
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const auto& e, std::string_view n) { return e.name < n; });
  return at != entries_.end() && at->name == name ? &*at : nullptr;
}

}  // namespace crossbill::loader
