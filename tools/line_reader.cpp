// Cuts a TextInput into numbered lines, in memory that doesn't grow with the file.
#include "tools/line_reader.hpp"

#include <cstring>
#include <string_view>

namespace crossbill::tools {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Used-up bytes stay in front of the buffer until there are this many, so that erasing costs little.
constexpr std::size_t kEraseAfter = 256 * 1024;

}  // namespace

std::string LineReader::place(std::size_t line_number) const {
  return input_.name() + ":" + std::to_string(line_number);
}

// Moves scanned_ to the next line end, or to the end of the buffer if there is none. What lies beyond the
// limit is thrown away at once: a line without an end must not fill the memory.
bool LineReader::find_line_end() {
  const void* found = scanned_ < buffer_.size()
                          ? std::memchr(buffer_.data() + scanned_, '\n', buffer_.size() - scanned_)
                          : nullptr;
  if (found != nullptr) {
    scanned_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
    return true;
  }
  scanned_ = buffer_.size();
  if (passing_over_ || scanned_ - begin_ > limit_ + 1) {  // + 1 for the "\r" of a "\r\n"
    passing_over_ = true;
    buffer_.clear();
    begin_ = scanned_ = 0;
  }
  return false;
}

void LineReader::drop_used_bytes() {
  if (begin_ > kEraseAfter) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
}

void LineReader::drop_byte_order_mark() {
  if (number_ == 0 && begin_ == 0 && !passing_over_ && buffer_.starts_with(kByteOrderMark)) {
    begin_ = kByteOrderMark.size();
    if (scanned_ < begin_) scanned_ = begin_;
  }
}

bool LineReader::next(Line& line) {
  while (!find_line_end()) {
    if (at_end_) {
      drop_byte_order_mark();
      if (begin_ == buffer_.size() && !passing_over_) return false;
      give_line(buffer_.size() - begin_, 0, line);
      return true;
    }
    drop_used_bytes();
    at_end_ = input_.read(buffer_) == TextInput::Read::end;
  }
  drop_byte_order_mark();
  give_line(scanned_ - begin_, 1, line);
  return true;
}

void LineReader::give_line(std::size_t length, std::size_t line_end_bytes, Line& line) {
  std::string_view text = std::string_view(buffer_).substr(begin_, length);
  if (text.ends_with('\r')) text.remove_suffix(1);
  line.number = ++number_;
  line.too_long = passing_over_ || text.size() > limit_;
  line.text = line.too_long ? std::string_view() : text;
  passing_over_ = false;
  begin_ += length + line_end_bytes;
  scanned_ = begin_;
}

bool LineReader::ready(std::chrono::milliseconds patience) {
  while (!find_line_end()) {
    if (at_end_) return true;
    drop_used_bytes();
    const TextInput::Read outcome = input_.read(buffer_, patience);
    if (outcome == TextInput::Read::not_yet) return false;
    at_end_ = outcome == TextInput::Read::end;
  }
  return true;
}

}  // namespace crossbill::tools
