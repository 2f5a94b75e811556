// Where lines come from: a file or standard input, plain or gzip'd.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tools/gzip_stream.hpp"

namespace crossbill::tools {

/// Bytes of a file, or of standard input for "-". Gzip is recognised by its first two bytes, wherever it
/// comes from. Errors are InputError and name the file.
class TextInput {
 public:
  /// `wake_fd` (-1: none) ends a wait with Interrupted once it is readable, see Interrupt.
  explicit TextInput(const std::string& path, int wake_fd = -1);
  ~TextInput();
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  enum class Read { data, not_yet, end };
  /// Appends some bytes to `out`. Waits for them as long as it takes, or at most `patience` (then not_yet).
  Read read(std::string& out, std::optional<std::chrono::milliseconds> patience = std::nullopt);

  /// For messages: the path, or "<stdin>".
  const std::string& name() const { return name_; }
  /// Bytes of the file as it lies on disk; absent for pipes and terminals.
  std::optional<std::uint64_t> size() const { return size_; }
  /// How many of them were read so far.
  std::uint64_t consumed() const { return consumed_; }
  bool is_terminal() const;

 private:
  Read read_raw(std::optional<std::chrono::milliseconds> patience);
  bool wait_for_data(std::optional<std::chrono::milliseconds> patience) const;
  bool take_text(std::string& out);

  std::string name_;
  int fd_ = -1;
  int wake_fd_ = -1;
  std::optional<std::uint64_t> size_;
  std::uint64_t consumed_ = 0;
  std::string raw_;  // bytes as read, from raw_position_ on not yet used
  std::size_t raw_position_ = 0;
  bool raw_end_ = false;
  bool kind_known_ = false;
  std::unique_ptr<GzipStream> gzip_;
};

}  // namespace crossbill::tools
