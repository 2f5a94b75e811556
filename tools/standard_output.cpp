// Standard output, with every write checked: a full disk is an error, a reader who left is not.
#include "tools/standard_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/failures.hpp"

namespace crossbill::tools {

void StandardOutput::flush() {
  std::string_view left = pending_;
  while (!left.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw OutputClosed();
    } else if (errno == EAGAIN) {  // whoever shares the other end has made it non-blocking
      pollfd room = {STDOUT_FILENO, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      throw OutputError(std::string("can't write to standard output: ") + std::strerror(errno));
    }
  }
  pending_.clear();
}

void say(std::string_view text) {
  std::string line(text);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace crossbill::tools
