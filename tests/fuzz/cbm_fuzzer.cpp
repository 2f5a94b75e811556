// Any bytes as a .cbm file: an Error, or a model of which every part can be read and every promise holds.
//
// Checksums are switched off, else hardly any change would get behind them; that damage is noticed is tested
// elsewhere. Seeds are a model with hidden size 4, one layer and a dozen tokens, packed as int8 and as f16.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "crossbill/error.hpp"
#include "kernels/panels.hpp"
#include "loader/cbm_reader.hpp"
#include "loader/file_bytes.hpp"
#include "loader/model.hpp"
#include "loader/quantiser.hpp"
#include "tokenizer/tokenizer.hpp"

namespace {

using namespace crossbill::loader;

void check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void read_rows(const WeightMatrix& matrix) {
  std::vector<float> row(matrix.cols);
  std::vector<std::int8_t> q(matrix.cols);
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    matrix.widen_row(i, row.data());
    if (matrix.layout == WeightMatrix::Layout::panels) {
      const auto* panels = reinterpret_cast<const std::int8_t*>(matrix.data);
      crossbill::kernels::get_s8_panel_row(panels, matrix.rows, matrix.cols, i, q.data());
      std::int32_t sum = 0;
      for (const std::int8_t value : q) {
        sum += value;
      }
      check(within_pair_bound(q) && sum == matrix.column_sums[i]);
    }
  }
}

void read_linear(const Linear& linear) {
  read_rows(linear.weight);
  for (const float value : linear.bias) {
    check(value - value == 0);  // finite
  }
}

/// The tokenizer reads the vocabulary's block in place, and gives no id without an embedding.
void encode(const Model& model) {
  try {
    const crossbill::tokenizer::Tokenizer tokenizer(model.tokenizer_settings, model.vocabulary);
    for (const std::int32_t id : tokenizer.encode("ab crow", "[SEP] aab \xFF", {}).ids) {
      check(id >= 0 && static_cast<std::size_t>(id) < model.config.vocab_size);
    }
  } catch (const crossbill::Error&) {
  }
}

void read_model(const Model& model) {
  for (std::size_t id = 0; id < model.vocabulary.size(); ++id) {
    const auto token = model.vocabulary.token(static_cast<std::int32_t>(id));
    const auto found = model.vocabulary.find(token);
    check(token.empty() || found == static_cast<std::int32_t>(id));
  }
  check(model.vocabulary.size() <= model.config.vocab_size);
  encode(model);
  read_rows(model.word_embeddings);
  read_rows(model.position_embeddings);
  read_rows(model.token_type_embeddings);
  for (const auto& layer : model.layers) {
    for (const Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.attention_output,
                                 &layer.intermediate, &layer.output}) {
      read_linear(*linear);
    }
  }
  read_linear(model.pooler);
  read_linear(model.classifier);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileBytes file = copy_aligned({reinterpret_cast<const std::byte*>(data), size});
  try {
    read_model(*open_cbm(file, "fuzzed", Checksums::ignore));
  } catch (const crossbill::Error&) {
  }
  return 0;
}
