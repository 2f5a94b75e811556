#include "loader/replacing_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "crossbill/error.hpp"
#include "loader/message.hpp"

namespace crossbill::loader {

namespace {

/// Where a file at `target` would really lie: the end of a symbolic link. Renaming over a device, a pipe or a
/// folder would destroy it, so these are refused.
std::filesystem::path replaceable(const std::filesystem::path& target) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(target, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error(
        ErrorCode::file_error,
        in_quotes(target.string()) + " can't be written: it is no regular file, expected one or a new name");
  }
  if (!std::filesystem::exists(status)) return target;
  const std::filesystem::path real = std::filesystem::canonical(target, error);
  return error ? target : real;
}

}  // namespace

ReplacingFile::ReplacingFile(const std::filesystem::path& target) : target_(replaceable(target)) {
  // Process and counter make the name our own; O_EXCL refuses one that exists all the same.
  static std::atomic<unsigned> counter{0};
  unfinished_ = target_;
  unfinished_ += ".unfinished-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  fd_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    fail(errno);
  }
}

ReplacingFile::~ReplacingFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(unfinished_.c_str());
  }
}

void ReplacingFile::fail(int error) const {
  throw Error(ErrorCode::file_error,
              in_quotes(target_.string()) + " can't be written: " + std::generic_category().message(error));
}

void ReplacingFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno != EINTR) {
      fail(errno);
    }
    if (written > 0) {
      offset += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
}

void ReplacingFile::append(std::span<const std::byte> bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

void ReplacingFile::append(std::string_view text) {
  append(std::as_bytes(std::span(text)));
}

void ReplacingFile::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  write_at(offset, bytes);
}

void ReplacingFile::commit() {
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0 || std::rename(unfinished_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    ::unlink(unfinished_.c_str());
    fail(error);
  }
}

}  // namespace crossbill::loader
