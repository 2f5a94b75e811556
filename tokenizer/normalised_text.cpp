#include "tokenizer/normalised_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "crossbill/encoding.hpp"
#include "tokenizer/normaliser.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"

namespace crossbill::tokenizer {
namespace {

struct Recorder {
  NormalisedText* text;

  void code_point(char32_t value, CodePointProperties /*properties*/, TokenOffset span) {
    char bytes[4];
    text->bytes.append(bytes, encode_code_point(value, bytes));
    text->spans.push_back(span);
  }
};

}  // namespace

NormalisedText normalise(std::string_view text, const NormaliserRules& rules, std::uint32_t first) {
  NormalisedText normalised;
  Recorder recorder{&normalised};
  Normaliser<Recorder, true> normaliser(rules, recorder);
  for (std::size_t position = 0; position < text.size(); ++first) {
    const DecodedCodePoint decoded = decode_code_point(text, position);
    normaliser.feed(decoded.value, {first, first + 1});
    position += decoded.bytes;
  }
  normaliser.end();
  return normalised;
}

}  // namespace crossbill::tokenizer
