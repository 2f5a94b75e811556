#include "loader/cbm_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "crossbill/error.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"
#include "loader/cbm_metadata.hpp"
#include "loader/cbm_sections.hpp"
#include "loader/file_bytes.hpp"
#include "loader/model.hpp"
#include "loader/model_checks.hpp"
#include "loader/packing.hpp"
#include "loader/panel_check.hpp"

namespace crossbill::loader {
namespace {

using cbm::SectionType;

/// Sections lie at multiples of 64 in a 64-byte aligned file, so their elements can be read in place.
template <typename Element>
std::span<const Element> elements(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Element*>(bytes.data()), bytes.size() / sizeof(Element)};
}

/// Makes a Model's parts out of sections.
class CbmParts {
 public:
  CbmParts(CbmSections& sections, PackedWeights weights) : sections_(sections), weights_(weights) {}

  /// A matrix that is f16 or f32, as its section says.
  WeightMatrix float_matrix(const std::string& name, std::size_t rows, std::size_t cols) {
    const bool half = sections_.type(name) == SectionType::f16;
    return matrix(name, half ? SectionType::f16 : SectionType::f32, half ? DType::f16 : DType::f32, rows,
                  cols);
  }

  WeightMatrix embedding(const std::string& name, std::size_t rows, std::size_t cols) {
    if (weights_ == PackedWeights::f16) {
      return matrix(name, SectionType::f16, DType::f16, rows, cols);
    }
    WeightMatrix rows_s8 = matrix(name, SectionType::s8, DType::s8, rows, cols);
    rows_s8.scales = scales(name, rows);
    return rows_s8;
  }

  /// A product of a layer: s8 panels, checked, or f16 rows.
  Linear product(const std::string& name, std::size_t out, std::size_t in) {
    Linear linear;
    if (weights_ == PackedWeights::f16) {
      linear.weight = matrix(name + ".weight", SectionType::f16, DType::f16, out, in);
    } else {
      const auto sums = elements<std::int32_t>(
          sections_.take(name + ".weight.column_sums", SectionType::s32, kernels::padded(out)));
      linear.weight = matrix(name + ".weight", SectionType::s8_panels, DType::s8, out, in);
      linear.weight.layout = WeightMatrix::Layout::panels;
      linear.weight.scales = scales(name + ".weight", out);
      linear.weight.column_sums = sums.data();
      const auto* panels = reinterpret_cast<const std::int8_t*>(linear.weight.data);
      check_panels({panels, kernels::s8_panel_size(out, in)}, sums, out, in,
                   sections_.where(name + ".weight"));
    }
    linear.bias = floats(name + ".bias", out);
    return linear;
  }

  Linear float_linear(const std::string& name, std::size_t out, std::size_t in) {
    return {float_matrix(name + ".weight", out, in), floats(name + ".bias", out)};
  }

  LayerNormWeights layer_norm(const std::string& name, std::size_t size) {
    return {floats(name + ".gamma", size), floats(name + ".beta", size)};
  }

 private:
  WeightMatrix matrix(const std::string& name, SectionType type, DType dtype, std::size_t rows,
                      std::size_t cols) {
    WeightMatrix matrix;
    matrix.dtype = dtype;
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.data = sections_.take(name, type, rows, cols).data();
    return matrix;
  }

  std::span<const float> floats(const std::string& name, std::size_t size) {
    const auto values = elements<float>(sections_.take(name, SectionType::f32, size));
    check_finite(values, sections_.where(name));
    return values;
  }

  const float* scales(const std::string& name, std::size_t size) {
    const auto values = floats(name + ".scales", size);
    for (std::size_t i = 0; i < size; ++i) {
      if (values[i] < 0) {
        throw Error(ErrorCode::bad_model, sections_.where(name + ".scales") +
                                              " has a negative scale at index " + std::to_string(i));
      }
    }
    return values.data();
  }

  CbmSections& sections_;
  PackedWeights weights_;
};

LayerWeights layer(CbmParts& parts, const std::string& name, const Config& config) {
  const std::size_t hidden = config.hidden_size;
  LayerWeights layer;
  layer.query = parts.product(name + ".query", hidden, hidden);
  layer.key = parts.product(name + ".key", hidden, hidden);
  layer.value = parts.product(name + ".value", hidden, hidden);
  layer.attention_output = parts.product(name + ".attention_output", hidden, hidden);
  layer.attention_norm = parts.layer_norm(name + ".attention_norm", hidden);
  layer.intermediate = parts.product(name + ".intermediate", config.intermediate_size, hidden);
  layer.output = parts.product(name + ".output", hidden, config.intermediate_size);
  layer.output_norm = parts.layer_norm(name + ".output_norm", hidden);
  return layer;
}

tokenizer::Vocabulary vocabulary(CbmSections& sections, const std::shared_ptr<const void>& owner) {
  const auto block = sections.take_bytes("vocabulary");
  try {
    return tokenizer::Vocabulary::view(block, owner);
  } catch (const Error& error) {
    throw Error(error.code(), sections.where("vocabulary") + ": " + error.what());
  }
}

}  // namespace

std::shared_ptr<const Model> open_cbm(FileBytes file, const std::string& name, Checksums checksums) {
  CbmSections sections(file.bytes, name, checksums);
  const auto json = sections.take_bytes("metadata");
  if (json.size() > cbm::kLongestMetadata) {
    throw Error(ErrorCode::bad_model, sections.where("metadata") + " is longer than 1 MiB");
  }
  CbmMetadata metadata = parse_cbm_metadata({reinterpret_cast<const char*>(json.data()), json.size()},
                                            sections.where("metadata"));

  auto model = std::make_shared<Model>();
  model->name = name;
  model->format = "cbm version 0";
  model->config = std::move(metadata.config);
  model->tokenizer_settings = std::move(metadata.tokenizer_settings);
  model->source_sha256 = std::move(metadata.source_sha256);
  model->weight_dtype = metadata.weights == PackedWeights::int8 ? DType::s8 : DType::f16;
  model->vocabulary = vocabulary(sections, file.owner);
  check_tokenizer_fits(*model);

  const Config& config = model->config;
  const std::size_t hidden = config.hidden_size;
  CbmParts parts(sections, metadata.weights);
  model->word_embeddings = parts.embedding("embeddings.word", config.vocab_size, hidden);
  model->position_embeddings =
      parts.float_matrix("embeddings.position", config.max_position_embeddings, hidden);
  model->token_type_embeddings = parts.float_matrix("embeddings.token_type", config.type_vocab_size, hidden);
  model->embedding_norm = parts.layer_norm("embeddings.norm", hidden);
  for (std::size_t i = 0; i < config.num_hidden_layers; ++i) {
    model->layers.push_back(layer(parts, "layer." + std::to_string(i), config));
  }
  model->pooler = parts.float_linear("pooler", hidden, hidden);
  model->classifier = parts.float_linear("classifier", config.num_labels, hidden);
  model->unused_tensors = sections.untaken();
  model->bytes = file.bytes.size();
  model->weight_files = {file.bytes};
  model->storage = std::move(file.owner);
  return model;
}

}  // namespace crossbill::loader
