// Any bytes as a safetensors file: an Error, or entries whose data lies within the input.
// Seeds are small files with one to three tensors.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "crossbill/error.hpp"
#include "loader/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const crossbill::loader::SafetensorsFile file({bytes, nullptr}, "fuzzed");
    std::size_t covered = 0;
    for (const auto& entry : file.entries()) {
      const auto* begin = entry.data.data();
      if (begin < bytes.data() || begin + entry.data.size() > bytes.data() + size ||
          file.find(entry.name) != &entry) {
        std::abort();
      }
      covered += entry.data.size();
    }
    if (covered > size) {
      std::abort();
    }
  } catch (const crossbill::Error&) {
  }
  return 0;
}
