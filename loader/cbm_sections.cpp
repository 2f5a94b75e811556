#include "loader/cbm_sections.hpp"

#include <algorithm>
#include <array>
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
#include "kernels/panels.hpp"
#include "loader/cbm_format.hpp"
#include "loader/checksum.hpp"
#include "loader/message.hpp"

namespace crossbill::loader {
namespace {

using cbm::SectionType;

[[noreturn]] void bad(const std::string& sentence) {
  throw Error(ErrorCode::bad_model, sentence);
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::string_view type_name(SectionType type) {
  constexpr std::array<std::string_view, cbm::kSectionTypes> kNames{"bytes", "f32", "f16",
                                                                    "s8",    "s32", "s8 panels"};
  return kNames[static_cast<std::uint32_t>(type)];
}

/// Bytes that a section of this type and shape has, or nothing if they exceed 64 bits.
std::optional<std::uint64_t> byte_count(const cbm::Section& section) {
  constexpr std::array<std::uint64_t, cbm::kSectionTypes> kElement{1, 4, 2, 1, 4, 1};
  auto [rows, cols] = section.shape;
  if (section.type == SectionType::s8_panels) {
    // Padding can't overflow below this, and no real matrix comes near it.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
    if (rows > kMost || cols > kMost) {
      return std::nullopt;
    }
    rows = kernels::padded(rows);
    cols = kernels::s8_padded_inputs(cols);
  }
  std::uint64_t bytes = kElement[static_cast<std::uint32_t>(section.type)];
  if (__builtin_mul_overflow(bytes, rows, &bytes) || __builtin_mul_overflow(bytes, cols, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::string_view name_of(const cbm::Section& section) {
  return {section.name.data(), ::strnlen(section.name.data(), section.name.size())};
}

bool is_printable(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::span<const std::uint64_t> shape_of(const cbm::Section& section) {
  return std::span(section.shape).first(section.rank);
}

}  // namespace

CbmSections::CbmSections(std::span<const std::byte> file, std::string name, Checksums checksums)
    : file_(file), name_(std::move(name)) {
  check_header(file);
  const auto& header = *reinterpret_cast<const cbm::Header*>(file.data());
  const auto* table = reinterpret_cast<const cbm::Section*>(file.data() + sizeof(cbm::Header));
  std::uint64_t offset = sizeof(cbm::Header) + header.section_count * sizeof(cbm::Section);
  const auto table_bytes = file.subspan(sizeof(cbm::Header), offset - sizeof(cbm::Header));
  if (checksums == Checksums::verify && checksum(table_bytes) != header.table_checksum) {
    bad(name_ + ": the section table's checksum is wrong, the file is damaged");
  }
  entries_.reserve(header.section_count);
  for (const auto& section : std::span(table, header.section_count)) {
    offset = check_section(section, offset);
    if (checksums == Checksums::verify &&
        checksum(file.subspan(section.offset, section.bytes)) != section.checksum) {
      bad(where(name_of(section)) + " has a wrong checksum, the file is damaged");
    }
    entries_.push_back({name_of(section), &section});
  }
  if (offset != file.size()) {
    bad(name_ + ": " + std::to_string(file.size() - offset) + " bytes at its end belong to no section");
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(entries_.begin(), entries_.end(),
                                        [](const Entry& a, const Entry& b) { return a.name == b.name; });
  if (twice != entries_.end()) {
    bad(where(twice->name) + " stands twice in the table");
  }
}

void CbmSections::check_header(std::span<const std::byte> file) const {
  if (file.size() < sizeof(cbm::Header) ||
      std::memcmp(file.data(), cbm::kMagic.data(), cbm::kMagic.size()) != 0) {
    bad(name_ + " is not a .cbm file: it doesn't begin with the format's magic bytes");
  }
  const auto& header = *reinterpret_cast<const cbm::Header*>(file.data());
  if (header.version != cbm::kVersion) {
    throw Error(ErrorCode::unsupported_model,
                name_ + " is a .cbm file of version " + std::to_string(header.version) +
                    "; this library reads version " + std::to_string(cbm::kVersion));
  }
  if (header.file_bytes != file.size()) {
    bad(name_ + ": the header states " + std::to_string(header.file_bytes) + " bytes, but the file has " +
        std::to_string(file.size()) + "; it is cut short or has been added to");
  }
  if (header.section_count > cbm::kMostSections ||
      header.section_count > (file.size() - sizeof(cbm::Header)) / sizeof(cbm::Section)) {
    bad(name_ + ": the header states " + std::to_string(header.section_count) +
        " sections, which the file can't hold");
  }
  if (!all_zero(std::as_bytes(std::span(header.reserved)))) {
    bad(name_ + ": the header's reserved bytes are not zero");
  }
}

std::uint64_t CbmSections::check_section(const cbm::Section& section, std::uint64_t expected_offset) const {
  const std::string_view name = name_of(section);
  const std::string place = where(name);
  if (!is_printable(name) || !all_zero(std::as_bytes(std::span(section.name).subspan(name.size()))) ||
      section.name.back() != '\0') {
    bad(place + " has a name that is not 1 to 63 printable ASCII characters followed by zeros");
  }
  if (static_cast<std::uint32_t>(section.type) >= cbm::kSectionTypes) {
    bad(place + " has the unknown type " + std::to_string(static_cast<std::uint32_t>(section.type)));
  }
  if (section.rank < 1 || section.rank > 2 || (section.rank == 1 && section.shape[1] != 1)) {
    bad(place + " has rank " + std::to_string(section.rank) + ", expected 1 or 2 dimensions");
  }
  if (byte_count(section) != section.bytes) {
    bad(place + " of shape " + shape_text(shape_of(section)) + " and type " +
        std::string(type_name(section.type)) + " can't have " + std::to_string(section.bytes) + " bytes");
  }
  if (section.offset != expected_offset) {
    bad(place + " starts at byte " + std::to_string(section.offset) + ", expected " +
        std::to_string(expected_offset));
  }
  if (section.bytes > file_.size() - section.offset) {
    bad(place + " ends beyond the file's " + std::to_string(file_.size()) + " bytes");
  }
  const std::uint64_t end = section.offset + section.bytes;
  const std::uint64_t next = cbm::aligned(end);
  if (next > file_.size() || !all_zero(file_.subspan(end, next - end))) {
    bad(place + " is not followed by zeros up to a multiple of " + std::to_string(cbm::kAlignment));
  }
  if (!all_zero(std::as_bytes(std::span(section.reserved)))) {
    bad(place + " has reserved bytes that are not zero");
  }
  return next;
}

std::string CbmSections::where(std::string_view section) const {
  return name_ + ": section " + in_quotes(section);
}

const CbmSections::Entry& CbmSections::find(std::string_view section) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), section,
                                   [](const Entry& e, std::string_view name) { return e.name < name; });
  if (at == entries_.end() || at->name != section) {
    bad(where(section) + " is missing");
  }
  return *at;
}

cbm::SectionType CbmSections::type(std::string_view section) const {
  return find(section).section->type;
}

std::span<const std::byte> CbmSections::take(std::string_view section, SectionType type,
                                             std::span<const std::uint64_t> shape) {
  const Entry& entry = find(section);
  const cbm::Section& stored = *entry.section;
  if (stored.type != type || !std::ranges::equal(shape_of(stored), shape)) {
    bad(where(section) + " has type " + std::string(type_name(stored.type)) + " and shape " +
        shape_text(shape_of(stored)) + ", expected " + std::string(type_name(type)) + " and " +
        shape_text(shape));
  }
  entries_[static_cast<std::size_t>(&entry - entries_.data())].taken = true;
  return file_.subspan(stored.offset, stored.bytes);
}

std::span<const std::byte> CbmSections::take(std::string_view section, SectionType type, std::size_t count) {
  const std::uint64_t shape[] = {count};
  return take(section, type, std::span(shape));
}

std::span<const std::byte> CbmSections::take(std::string_view section, SectionType type, std::size_t rows,
                                             std::size_t cols) {
  const std::uint64_t shape[] = {rows, cols};
  return take(section, type, std::span(shape));
}

std::span<const std::byte> CbmSections::take_bytes(std::string_view section) {
  return take(section, SectionType::bytes, find(section).section->shape[0]);
}

std::vector<std::string> CbmSections::untaken() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (!entry.taken) {
      names.emplace_back(entry.name);
    }
  }
  return names;
}

}  // namespace crossbill::loader
