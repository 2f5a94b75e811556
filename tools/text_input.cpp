// Where lines come from: a file or standard input, plain or gzip'd.
#include "tools/text_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "tools/failures.hpp"

namespace crossbill::tools {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

}  // namespace

TextInput::TextInput(const std::string& path, int wake_fd)
    : name_(path == "-" ? "<stdin>" : path), wake_fd_(wake_fd) {
  fd_ = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0 && errno == EINTR) throw Interrupted();  // while a pipe by name waited for its writer
  if (fd_ < 0)
    throw InputError((name_.empty() ? "\"\"" : name_) + ": can't be opened: " + std::strerror(errno));
  struct stat facts = {};
  if (fstat(fd_, &facts) == 0) {
    if (S_ISDIR(facts.st_mode)) {
      close(fd_);
      throw InputError(name_ + ": is a folder, a file was expected");
    }
    if (S_ISREG(facts.st_mode)) size_ = static_cast<std::uint64_t>(facts.st_size);
  }
}

TextInput::~TextInput() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

bool TextInput::is_terminal() const {
  return isatty(fd_) == 1;
}

bool TextInput::wait_for_data(std::optional<std::chrono::milliseconds> patience) const {
  const int timeout = patience ? static_cast<int>(patience->count()) : -1;
  for (;;) {
    pollfd waited[2] = {{fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    const int ready = poll(waited, wake_fd_ < 0 ? 1 : 2, timeout);
    if (ready < 0 && errno == EINTR) continue;  // the handler has made wake_fd readable
    if (ready < 0) throw InputError(name_ + ": can't be waited for: " + std::strerror(errno));
    if (waited[1].revents != 0) throw Interrupted();
    return ready > 0;
  }
}

TextInput::Read TextInput::read_raw(std::optional<std::chrono::milliseconds> patience) {
  if (!wait_for_data(patience)) return Read::not_yet;
  raw_.erase(0, raw_position_);
  raw_position_ = 0;
  const std::size_t before = raw_.size();
  raw_.resize(before + kPiece);
  ssize_t count = 0;
  do {
    count = ::read(fd_, raw_.data() + before, kPiece);
  } while (count < 0 && errno == EINTR);
  raw_.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
  if (count < 0) throw InputError(name_ + ": can't be read: " + std::strerror(errno));
  consumed_ += static_cast<std::uint64_t>(count);
  if (count == 0) raw_end_ = true;
  return count == 0 ? Read::end : Read::data;
}

// Moves what the raw bytes at hand give to `out`; false if they give nothing.
bool TextInput::take_text(std::string& out) {
  std::string_view left = std::string_view(raw_).substr(raw_position_);
  bool produced = !left.empty();
  if (gzip_) {
    try {
      produced = gzip_->take(left, out);
    } catch (const BadLine& fault) {
      throw InputError(name_ + ": " + fault.what());
    }
    raw_position_ = raw_.size() - left.size();
  } else {
    out.append(left);
    raw_position_ = raw_.size();
  }
  return produced;
}

TextInput::Read TextInput::read(std::string& out, std::optional<std::chrono::milliseconds> patience) {
  for (;;) {
    if (!kind_known_ && (raw_end_ || raw_.size() >= 2 || (raw_.size() == 1 && raw_[0] != '\x1f'))) {
      kind_known_ = true;
      if (GzipStream::recognises(raw_)) gzip_ = std::make_unique<GzipStream>();
    }
    if (kind_known_ && take_text(out)) return Read::data;
    if (raw_end_) {
      if (gzip_ && !gzip_->complete()) throw InputError(name_ + ": the gzip data is cut short");
      return Read::end;
    }
    if (read_raw(patience) == Read::not_yet) return Read::not_yet;
  }
}

}  // namespace crossbill::tools
