// Ctrl-C as a request to stop. A signal handler may do next to nothing, request_stop() included, so ours
// writes one byte to a pipe; a thread that sleeps on the pipe does the rest.
#include "tools/interrupt.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace crossbill::tools {
namespace {

// The handler reaches nothing but globals. Lock-free atomics are what a handler may touch.
std::atomic<int> signal_pipe{-1};
std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr int kSignals[] = {SIGINT, SIGTERM};

extern "C" void note_signal(int number) {
  const int saved_errno = errno;
  last_signal.store(number);
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(signal_pipe.load(), &byte, 1);
  errno = saved_errno;
}

bool is_ignored(int number) {
  struct sigaction current = {};
  return sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt() {
  if (pipe(pipe_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  for (const int end : pipe_) fcntl(end, F_SETFD, FD_CLOEXEC);
  signal_pipe.store(pipe_[1]);
  // Signals go to the main thread, so that they end its waits; the watcher inherits a mask without them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watcher_ = std::thread([this] { wait_for_signal(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int number : kSignals) {
    if (is_ignored(number)) continue;
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second Ctrl-C does what it always did
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (const int number : kSignals) {
    if (!is_ignored(number)) signal(number, SIG_DFL);
  }
  const char byte = 0;  // wakes the watcher, whether or not a signal ever came
  [[maybe_unused]] const ssize_t written = write(pipe_[1], &byte, 1);
  watcher_.join();
  signal_pipe.store(-1);
  for (const int end : pipe_) close(end);
}

int Interrupt::signal_number() {
  return last_signal.load();
}

// The byte is left in the pipe on purpose: it keeps wake_fd() readable for whoever polls it later.
void Interrupt::wait_for_signal() {
  pollfd waited = {pipe_[0], POLLIN, 0};
  while (poll(&waited, 1, -1) < 0 && errno == EINTR) {
  }
  if (last_signal.load() != 0) source_.request_stop();
}

}  // namespace crossbill::tools
