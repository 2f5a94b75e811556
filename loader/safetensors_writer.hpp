// Writes a safetensors file of f32 tensors, row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace crossbill::loader {

struct TensorToWrite {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< [count] or [rows][cols]
  std::size_t rows = 0;              ///< 1 for a [count]
  std::size_t cols = 0;
  /// Writes row `row` to out[0 … cols).
  std::function<void(std::size_t row, float* out)> read_row;
};

/// Tensors in the order given. Error file_error; an old file stays until the new one is whole.
void write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors);

}  // namespace crossbill::loader
