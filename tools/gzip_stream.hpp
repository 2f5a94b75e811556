// Takes gzip'd bytes in pieces and gives back what they hold.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace crossbill::tools {

/// Decompresses one gzip file, which may be several members written one after the other (as `cat a.gz b.gz`
/// makes). Memory stays constant: a call gives at most 64 KiB.
class GzipStream {
 public:
  GzipStream();
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  /// Whether `first` are the bytes that a gzip file begins with.
  static bool recognises(std::string_view first) { return first.substr(0, 2) == "\x1f\x8b"; }

  /// Removes what it used from the front of `compressed` and appends what came out to `text`. Returns whether
  /// anything came out; if not, it needs more input. Damaged data is a BadLine that says what is wrong.
  bool take(std::string_view& compressed, std::string& text);

  /// Whether the input may end here; if not, the file is cut short.
  bool complete() const { return between_members_; }

 private:
  bool start_next_member(std::string_view& compressed);

  z_stream stream_ = {};
  bool between_members_ = false;  // at first the member whose magic bytes were recognised
};

}  // namespace crossbill::tools
