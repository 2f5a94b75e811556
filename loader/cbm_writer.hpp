// Writes the sections of a .cbm file one after the other; only one is in memory at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "loader/cbm_format.hpp"
#include "loader/replacing_file.hpp"

namespace crossbill::loader {

class CbmWriter {
 public:
  /// The number of sections must be known, since the table stands before them.
  CbmWriter(const std::filesystem::path& out, std::size_t sections);

  /// Appends a section with its checksum and the zeros behind it.
  void add(const std::string& name, cbm::SectionType type, std::initializer_list<std::uint64_t> shape,
           std::span<const std::byte> bytes);
  /// Writes header and table and puts the file in place. Returns its size.
  std::size_t finish();

 private:
  ReplacingFile file_;
  std::size_t expected_;
  std::vector<cbm::Section> table_;
};

}  // namespace crossbill::loader
