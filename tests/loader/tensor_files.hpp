// Reads and writes safetensors files for the tests, sharing no code with the loader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/loader/temporary_folder.hpp"

namespace crossbill::loader {

struct TestTensor {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};
using TestTensors = std::map<std::string, TestTensor>;

inline std::string with_header(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  return file + header + data;
}

inline TestTensors read_tensors(const std::filesystem::path& path) {
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const auto header = nlohmann::json::parse(file.substr(8, length));
  TestTensors tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      const std::size_t begin = entry["data_offsets"][0];
      const std::size_t end = entry["data_offsets"][1];
      tensors[name] = {entry["dtype"], entry["shape"], file.substr(8 + length + begin, end - begin)};
    }
  }
  return tensors;
}

/// `padding` spaces after the header move the data to other alignments.
inline void write_tensors(const std::filesystem::path& path, const TestTensors& tensors,
                          std::size_t padding = 0) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  write_file(path, with_header(header.dump() + std::string(padding, ' '), data));
}

inline std::vector<float> floats_of(const TestTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace crossbill::loader
