// Cuts a TextInput into numbered lines, in memory that doesn't grow with the file.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "tools/text_input.hpp"

namespace crossbill::tools {

struct Line {
  std::string text;        ///< without its line end ("\n" or "\r\n")
  std::size_t number = 0;  ///< from 1
  bool too_long = false;   ///< over the limit: `text` is empty and the rest of the line was passed over
};

class LineReader {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{64} << 20;

  /// `limit`: bytes a line may have.
  explicit LineReader(TextInput& input, std::size_t limit = kDefaultLimit) : input_(input), limit_(limit) {}

  /// The next line; false at the end. A last line needs no line end. A byte order mark before the first line
  /// is dropped. Waits for input if it must; throws what TextInput throws.
  bool next(Line& line);

  /// Whether next() can answer without waiting. Waits at most `patience` itself, so that a writer who is just
  /// a little slower than we are can fill a batch.
  bool ready(std::chrono::milliseconds patience);

  std::size_t limit() const { return limit_; }
  const TextInput& input() const { return input_; }
  /// "FILE:LINE", for messages.
  std::string place(std::size_t line_number) const;

 private:
  bool find_line_end();
  void drop_used_bytes();
  void drop_byte_order_mark();
  void give_line(std::size_t length, std::size_t line_end_bytes, Line& line);

  TextInput& input_;
  std::size_t limit_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the line being read
  std::size_t scanned_ = 0;  // before it there is no line end
  bool at_end_ = false;
  bool passing_over_ = false;  // inside a line that is too long
  std::size_t number_ = 0;
};

}  // namespace crossbill::tools
