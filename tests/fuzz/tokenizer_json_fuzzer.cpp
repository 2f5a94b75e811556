// Any text as a tokenizer.json and as a vocab.txt: an Error, or a tokenizer that works.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "crossbill/error.hpp"
#include "tokenizer/huggingface_files.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/vocabulary.hpp"

namespace {

using crossbill::tokenizer::Vocabulary;

void check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Every token is found under its id, and a view of the block is accepted.
void check_vocabulary(const Vocabulary& vocabulary) {
  const Vocabulary again = Vocabulary::view(vocabulary.block(), nullptr);
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const std::string_view token = again.token(id);
    check(token.empty() || again.find(token) == id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_vocabulary(crossbill::tokenizer::parse_vocab_txt(text));
  } catch (const crossbill::Error&) {
  }
  try {
    const auto files = crossbill::tokenizer::parse_tokenizer_json(text, "fuzzed");
    check_vocabulary(files.vocabulary);
    const crossbill::tokenizer::Tokenizer tokenizer(files.settings, files.vocabulary);
    for (const char* sample : {"", "a b", "[CLS]ab [SEP]\xFF", "Ab\u0301 \u7684\uAC00 <x>"}) {
      const auto pair = tokenizer.encode(sample, sample, {});
      for (const std::int32_t id : pair.ids) {
        check(id >= 0 && static_cast<std::size_t>(id) < tokenizer.id_limit());
      }
      check(tokenizer.explain(sample, sample, {}).ids == pair.ids);
    }
  } catch (const crossbill::Error&) {
  }
  return 0;
}
