// The JSON header of a safetensors file, parsed as a stream.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace crossbill::loader {

/// One tensor as the header states it, nothing checked but the form.
struct SafetensorsHeaderEntry {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::array<std::uint64_t, 2> data_offsets{};
};

/// Error bad_model beginning with `file` if the text isn't
/// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …} with an optional "__metadata__"
/// object of strings. Duplicate tensor names are left to the caller.
std::vector<SafetensorsHeaderEntry> parse_safetensors_header(std::string_view json, const std::string& file);

}  // namespace crossbill::loader
