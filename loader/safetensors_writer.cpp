#include "loader/safetensors_writer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "loader/replacing_file.hpp"

namespace crossbill::loader {

void write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors) {
  nlohmann::ordered_json header;
  header["__metadata__"]["format"] = "pt";
  std::uint64_t offset = 0;
  for (const auto& tensor : tensors) {
    const std::uint64_t end = offset + std::uint64_t{tensor.rows} * tensor.cols * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
  const std::uint64_t length = text.size();

  ReplacingFile file(path);
  file.append(std::as_bytes(std::span(&length, 1)));
  file.append(text);
  for (const auto& tensor : tensors) {
    std::vector<float> values(tensor.rows * tensor.cols);
    for (std::size_t row = 0; row < tensor.rows; ++row) {
      tensor.read_row(row, values.data() + row * tensor.cols);
    }
    file.append(std::as_bytes(std::span(values)));
  }
  file.commit();
}

}  // namespace crossbill::loader
