// How the command line fails: one exit code and one exception type for each kind of trouble.
#pragma once

#include <stdexcept>
#include <string>

namespace crossbill::tools {

/// What the shell sees. An interrupted run ends with 128 + the signal's number, as shells expect.
enum ExitCode : int { exit_fine = 0, exit_failure = 1, exit_usage = 2 };

/// The data is bad or can't be read; the sentence begins with FILE or FILE:LINE.
class InputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is wrong with one line, without its place: the reader that knows the place adds it.
class BadLine : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command was called in a way that makes no sense.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Standard output can't be written, for example because the disk is full.
class OutputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whoever read our standard output has had enough (`| head`): the run ends without a word.
class OutputClosed : public std::runtime_error {
 public:
  OutputClosed() : std::runtime_error("standard output was closed by its reader") {}
};

/// The user asked us to stop (Ctrl-C) while we waited for input.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace crossbill::tools
