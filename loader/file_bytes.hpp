// The bytes of a file: mapped read-only, or read into memory. Only regular files are taken, so that a folder,
// a FIFO or a device is an Error and not a surprise.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "loader/model.hpp"

namespace crossbill::loader {

/// Borrowed bytes and what keeps them alive.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// LoadMode::map: page-aligned, read-only. LoadMode::copy: 64-byte aligned memory of the file's size.
/// Error file_error if it can't be opened or read, isn't a regular file, or is empty.
FileBytes open_file(const std::filesystem::path& path, LoadMode mode);

/// Copies bytes to 64-byte aligned memory.
FileBytes copy_aligned(std::span<const std::byte> bytes);

/// A whole text file. Error file_error as open_file, and if it has more than `limit` bytes.
std::string read_text_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace crossbill::loader
