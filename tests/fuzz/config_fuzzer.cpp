// Any text as a config.json: an Error, or a Config that is written and read back to the same.
// Seeds are the configurations of the tiny models and variants of them.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "crossbill/error.hpp"
#include "loader/config.hpp"

namespace {

void check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using crossbill::loader::Config;
  Config config;
  try {
    config = crossbill::loader::parse_config_json({reinterpret_cast<const char*>(data), size}, "fuzzed");
  } catch (const crossbill::Error&) {
    return 0;
  }
  check(config.hidden_size % config.num_attention_heads == 0);
  check(config.labels.size() == config.num_labels && config.num_labels >= 1);
  const Config back =
      crossbill::loader::parse_config_json(crossbill::loader::write_config_json(config), "written");
  check(back.hidden_size == config.hidden_size && back.vocab_size == config.vocab_size);
  check(back.layer_norm_eps == config.layer_norm_eps && back.hidden_act == config.hidden_act);
  check(back.labels == config.labels && back.score_activation == config.score_activation);
  return 0;
}
