// Reads a safetensors file: eight bytes of header length, a JSON header, then the tensors' bytes.
//
// The header is untrusted. It is read by a streaming parser that keeps nothing but names, types, shapes and
// offsets, so memory stays within a few times the header; tensors are never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/file_bytes.hpp"
#include "loader/model.hpp"

namespace crossbill::loader {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;                 ///< the file's word, for example "F16", "I64"
  std::vector<std::uint64_t> shape;  ///< outermost first
  std::span<const std::byte> data;   ///< little-endian, may start at any address

  /// The type if it is one that weights may have.
  std::optional<DType> weight_dtype() const;
};

class SafetensorsFile {
 public:
  /// `name` stands in messages. Error bad_model, naming file and tensor, if the header is longer than the
  /// file, isn't JSON of the expected form, names a tensor twice, or if a tensor's type is unknown, its bytes
  /// aren't shape × type, lie outside the file, overlap another's, or leave a gap.
  SafetensorsFile(FileBytes file, std::string name);

  /// Null if there is none of that name.
  const SafetensorsEntry* find(std::string_view name) const;
  std::span<const SafetensorsEntry> entries() const { return entries_; }  ///< sorted by name
  const std::string& name() const { return name_; }
  const FileBytes& file() const { return file_; }

 private:
  FileBytes file_;
  std::string name_;
  std::vector<SafetensorsEntry> entries_;
};

}  // namespace crossbill::loader
