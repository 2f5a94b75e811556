#include "loader/file_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>

#include "crossbill/error.hpp"
#include "loader/message.hpp"

namespace crossbill::loader {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::file_error, in_quotes(path.string()) + " " + what);
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// An open regular file of known size.
class RegularFile {
 public:
  explicit RegularFile(const std::filesystem::path& path) : path_(path) {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) {
      fail(path, "can't be opened: " + reason(errno));
    }
    struct stat status {};
    const bool known = ::fstat(fd_, &status) == 0;
    if (!known || !S_ISREG(status.st_mode) || status.st_size <= 0) {
      const int error = errno;
      ::close(fd_);
      if (!known) {
        fail(path, "can't be examined: " + reason(error));
      }
      fail(path, S_ISDIR(status.st_mode)    ? "is a folder, not a file"
                 : !S_ISREG(status.st_mode) ? "is not a regular file"
                                            : "is empty");
    }
    size_ = static_cast<std::size_t>(status.st_size);
  }
  ~RegularFile() { ::close(fd_); }
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  std::size_t size() const { return size_; }
  int descriptor() const { return fd_; }

  void read_into(std::byte* out) const {
    for (std::size_t done = 0; done < size_;) {
      const ssize_t got = ::read(fd_, out + done, size_ - done);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        fail(path_, got < 0 ? "can't be read: " + reason(errno) : "became shorter while it was read");
      }
      done += static_cast<std::size_t>(got);
    }
  }

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  std::size_t size_ = 0;
};

std::shared_ptr<std::byte> aligned_memory(std::size_t size) {
  constexpr std::align_val_t kAlignment{64};
  auto* memory = static_cast<std::byte*>(::operator new(size, kAlignment));
  return {memory, [](std::byte* p) { ::operator delete(p, kAlignment); }};
}

}  // namespace

FileBytes open_file(const std::filesystem::path& path, LoadMode mode) {
  const RegularFile file(path);
  const std::size_t size = file.size();
  if (mode == LoadMode::copy) {
    auto memory = aligned_memory(size);
    file.read_into(memory.get());
    return {{memory.get(), size}, memory};
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (mapped == MAP_FAILED) {
    fail(path, "can't be mapped: " + reason(errno));
  }
  const std::shared_ptr<const void> owner(mapped, [size](void* p) { ::munmap(p, size); });
  return {{static_cast<const std::byte*>(mapped), size}, owner};
}

FileBytes copy_aligned(std::span<const std::byte> bytes) {
  auto memory = aligned_memory(bytes.size());
  if (!bytes.empty()) {
    std::memcpy(memory.get(), bytes.data(), bytes.size());
  }
  return {{memory.get(), bytes.size()}, memory};
}

std::string read_text_file(const std::filesystem::path& path, std::size_t limit) {
  const RegularFile file(path);
  if (file.size() > limit) {
    fail(path, "has " + std::to_string(file.size()) + " bytes, more than the " + std::to_string(limit) +
                   " that such a file may have");
  }
  std::string text(file.size(), '\0');
  file.read_into(reinterpret_cast<std::byte*>(text.data()));
  return text;
}

}  // namespace crossbill::loader
