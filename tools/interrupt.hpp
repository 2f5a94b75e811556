// Ctrl-C as a request to stop: work ends at the next chunk. Windows of lines and requests that were finished
// are printed whole; of the one at hand nothing is.
#pragma once

#include <stop_token>
#include <thread>

namespace crossbill::tools {

/// While one lives, the first SIGINT or SIGTERM asks `token()` to stop; a second one ends the process as
/// usual. Signals that the parent has set to be ignored stay ignored. At most one may live at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// A file descriptor that becomes readable, and stays so, once the user has interrupted: poll it beside
  /// the one you wait for.
  int wake_fd() const { return pipe_[0]; }

  /// The signal that came, or 0.
  static int signal_number();

 private:
  void wait_for_signal();

  int pipe_[2] = {-1, -1};
  std::stop_source source_;
  std::thread watcher_;
};

}  // namespace crossbill::tools
