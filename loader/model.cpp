#include "loader/model.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "loader/cbm_reader.hpp"
#include "loader/file_bytes.hpp"
#include "loader/huggingface_folder.hpp"
#include "loader/huggingface_weights.hpp"

namespace crossbill::loader {

std::shared_ptr<const Model> open_model(const std::filesystem::path& path, LoadMode mode) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return open_huggingface_folder(path, mode);
  }
  refuse_convertible_file(path);
  return open_cbm(open_file(path, mode), path.string());
}

std::shared_ptr<const Model> open_model(std::span<const std::byte> cbm, std::shared_ptr<const void> owner) {
  FileBytes file{cbm, std::move(owner)};
  if (reinterpret_cast<std::uintptr_t>(cbm.data()) % 64 != 0) {
    file = copy_aligned(cbm);
  }
  return open_cbm(std::move(file), "memory");
}

}  // namespace crossbill::loader
