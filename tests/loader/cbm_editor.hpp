// Changes bytes of a .cbm file and sets its checksums right again, as a hostile writer would.
#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "loader/cbm_format.hpp"
#include "loader/checksum.hpp"
#include "tests/loader/temporary_folder.hpp"

namespace crossbill::loader {

class CbmEditor {
 public:
  explicit CbmEditor(std::string bytes) : bytes_(std::move(bytes)) {}

  cbm::Header& header() { return *reinterpret_cast<cbm::Header*>(bytes_.data()); }

  std::span<cbm::Section> table() {
    return {reinterpret_cast<cbm::Section*>(bytes_.data() + sizeof(cbm::Header)), header().section_count};
  }

  cbm::Section& section(std::string_view name) {
    for (auto& section : table()) {
      if (name == section.name.data()) {
        return section;
      }
    }
    throw std::out_of_range(std::string(name));
  }

  template <typename Element>
  std::span<Element> data(std::string_view name) {
    const auto& entry = section(name);
    return {reinterpret_cast<Element*>(bytes_.data() + entry.offset), entry.bytes / sizeof(Element)};
  }

  /// Puts other bytes in a section and moves the ones behind it.
  void replace(std::string_view name, std::string_view content) {
    auto& entry = section(name);
    const std::size_t old_end = cbm::aligned(entry.offset + entry.bytes);
    const std::size_t new_end = cbm::aligned(entry.offset + content.size());
    std::string padded(content);
    padded.resize(new_end - entry.offset, '\0');
    const std::size_t offset = entry.offset;
    for (auto& other : table()) {
      if (other.offset > offset) {
        other.offset = other.offset - old_end + new_end;
      }
    }
    entry.bytes = content.size();
    entry.shape = {content.size(), 1};
    bytes_.replace(offset, old_end - offset, padded);
    header().file_bytes = bytes_.size();
  }

  const std::string& with_right_checksums() {
    for (auto& entry : table()) {
      if (entry.offset <= bytes_.size() && entry.bytes <= bytes_.size() - entry.offset) {
        entry.checksum = checksum(std::as_bytes(std::span(bytes_)).subspan(entry.offset, entry.bytes));
      }
    }
    header().table_checksum = checksum(std::as_bytes(table()));
    return bytes_;
  }

  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace crossbill::loader
