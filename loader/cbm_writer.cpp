#include "loader/cbm_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "loader/cbm_format.hpp"
#include "loader/checksum.hpp"

namespace crossbill::loader {

CbmWriter::CbmWriter(const std::filesystem::path& out, std::size_t sections)
    : file_(out), expected_(sections) {
  file_.append(std::vector<std::byte>(sizeof(cbm::Header) + sections * sizeof(cbm::Section)));
}

void CbmWriter::add(const std::string& name, cbm::SectionType type,
                    std::initializer_list<std::uint64_t> shape, std::span<const std::byte> bytes) {
  cbm::Section section;
  if (name.size() >= section.name.size()) {
    throw std::logic_error("section name " + name + " is too long");
  }
  std::ranges::copy(name, section.name.begin());
  section.type = type;
  section.rank = static_cast<std::uint32_t>(shape.size());
  section.shape = {*shape.begin(), shape.size() > 1 ? shape.begin()[1] : 1};
  section.offset = file_.size();
  section.bytes = bytes.size();
  section.checksum = checksum(bytes);
  table_.push_back(section);
  file_.append(bytes);
  file_.append(std::vector<std::byte>(cbm::aligned(file_.size()) - file_.size()));
}

std::size_t CbmWriter::finish() {
  if (table_.size() != expected_) {
    throw std::logic_error("a .cbm file got another number of sections than announced");
  }
  const auto table = std::as_bytes(std::span(table_));
  cbm::Header header;
  header.section_count = static_cast<std::uint32_t>(table_.size());
  header.file_bytes = file_.size();
  header.table_checksum = checksum(table);
  file_.overwrite(0, std::as_bytes(std::span(&header, 1)));
  file_.overwrite(sizeof header, table);
  file_.commit();
  return file_.size();
}

}  // namespace crossbill::loader
