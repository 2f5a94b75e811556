// Standard output, with every write checked: a full disk is an error, a reader who left is not.
#pragma once

#include <string>
#include <string_view>

namespace crossbill::tools {

/// Collects text and writes it in one go. Nothing is written by the destructor: call flush().
class StandardOutput {
 public:
  void write(std::string_view text) { pending_ += text; }
  void line(std::string_view text) {
    pending_ += text;
    pending_ += '\n';
  }
  /// Writes what was collected. OutputError if that fails, OutputClosed if nobody reads any more.
  void flush();
  /// Flushes once a good deal has been collected.
  void flush_if_full() {
    if (pending_.size() >= kEnough) flush();
  }

 private:
  static constexpr std::size_t kEnough = 64 * 1024;
  std::string pending_;
};

/// One line on standard error; errors there are nobody's business.
void say(std::string_view text);

}  // namespace crossbill::tools
