// Writes a file beside its final place and renames it over when it is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace crossbill::loader {

/// Until commit() the old file stays as it is; without commit() the unfinished one is removed. A symbolic
/// link stays and the file that it leads to is replaced; a target that exists and isn't a regular file is
/// refused. Error file_error from every method that touches the file system.
class ReplacingFile {
 public:
  explicit ReplacingFile(const std::filesystem::path& target);
  ~ReplacingFile();
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text);
  /// Overwrites bytes that were appended before.
  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  std::filesystem::path target_;
  std::filesystem::path unfinished_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace crossbill::loader
