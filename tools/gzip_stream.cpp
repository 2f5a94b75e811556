// Takes gzip'd bytes in pieces and gives back what they hold, by zlib.
#include "tools/gzip_stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <new>

#include "tools/failures.hpp"

namespace crossbill::tools {
namespace {

constexpr int kGzipOnly = 15 + 16;  // zlib: the largest window, and a gzip header is a must
constexpr std::size_t kPiece = 64 * 1024;

}  // namespace

GzipStream::GzipStream() {
  if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
}

GzipStream::~GzipStream() {
  inflateEnd(&stream_);
}

// Behind a member lies the next one, or nothing, or the zeros that tapes and some tools pad with.
bool GzipStream::start_next_member(std::string_view& compressed) {
  compressed.remove_prefix(std::min(compressed.find_first_not_of('\0'), compressed.size()));
  if (compressed.empty()) return false;
  if (compressed.front() != '\x1f') throw BadLine("bytes that are not gzip follow the gzip data");
  inflateReset(&stream_);
  between_members_ = false;
  return true;
}

bool GzipStream::take(std::string_view& compressed, std::string& text) {
  std::array<char, kPiece> piece;
  for (;;) {
    if (between_members_ && !start_next_member(compressed)) return false;
    const std::size_t offered =
        std::min<std::size_t>(compressed.size(), std::numeric_limits<uInt>::max() / 2);
    // zlib's interface lacks a const; it doesn't write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream_.avail_in = static_cast<uInt>(offered);
    stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_out = kPiece;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    compressed.remove_prefix(offered - stream_.avail_in);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      throw BadLine(std::string("damaged gzip data: ") + (stream_.msg ? stream_.msg : zError(status)));
    }
    if (status == Z_STREAM_END) between_members_ = true;
    const std::size_t produced = kPiece - stream_.avail_out;
    text.append(piece.data(), produced);
    if (produced > 0) return true;
    if (status != Z_STREAM_END) return false;
  }
}

}  // namespace crossbill::tools
