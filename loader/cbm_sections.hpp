// The section table of a .cbm file: checked once, then asked by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/cbm_format.hpp"

namespace crossbill::loader {

/// Whether section checksums are compared with the data. Fuzzers switch it off to get behind them.
enum class Checksums { verify, ignore };

class CbmSections {
 public:
  /// `file` is 64-byte aligned. Error bad_model, naming file and section, unless header and table are sound:
  /// sections lie in table order without gaps, each has a known type, a unique name and as many bytes as
  /// shape and type say, and (Checksums::verify) every checksum is right. Error unsupported_model for another
  /// version.
  CbmSections(std::span<const std::byte> file, std::string name, Checksums checksums);

  /// The section's data. Error bad_model if it is missing or has another type or shape.
  std::span<const std::byte> take(std::string_view section, cbm::SectionType type, std::size_t count);
  std::span<const std::byte> take(std::string_view section, cbm::SectionType type, std::size_t rows,
                                  std::size_t cols);
  /// A section of bytes, whatever its length.
  std::span<const std::byte> take_bytes(std::string_view section);
  /// The type of a section that has to be there.
  cbm::SectionType type(std::string_view section) const;

  /// Names of the sections that nobody took.
  std::vector<std::string> untaken() const;
  /// "file: section "name"", for messages.
  std::string where(std::string_view section) const;

 private:
  struct Entry {
    std::string_view name;
    const cbm::Section* section;
    bool taken = false;
  };

  void check_header(std::span<const std::byte> file) const;
  std::uint64_t check_section(const cbm::Section& section, std::uint64_t expected_offset) const;
  const Entry& find(std::string_view section) const;
  std::span<const std::byte> take(std::string_view section, cbm::SectionType type,
                                  std::span<const std::uint64_t> shape);

  std::span<const std::byte> file_;
  std::string name_;
  std::vector<Entry> entries_;  // sorted by name
};

}  // namespace crossbill::loader
