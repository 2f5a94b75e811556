#include "loader/packing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"
#include "loader/cbm_format.hpp"
#include "loader/cbm_metadata.hpp"
#include "loader/cbm_writer.hpp"
#include "loader/half.hpp"
#include "loader/model.hpp"
#include "loader/model_checks.hpp"
#include "loader/quantiser.hpp"
#include "loader/sha256.hpp"

namespace crossbill::loader {
namespace {

using cbm::SectionType;

template <typename Element>
std::span<const std::byte> bytes_of(const std::vector<Element>& values) {
  return std::as_bytes(std::span(values));
}

/// A source that is int8 already is taken over as it is: rounding again would lose again.
bool is_packed(const WeightMatrix& matrix) {
  return matrix.dtype == DType::s8;
}

/// Copies a packed row's codes to `q` and returns its scale.
float take_packed(const WeightMatrix& matrix, std::size_t row, std::span<std::int8_t> q) {
  const auto* codes = reinterpret_cast<const std::int8_t*>(matrix.data);
  if (matrix.layout == WeightMatrix::Layout::panels) {
    kernels::get_s8_panel_row(codes, matrix.rows, matrix.cols, row, q.data());
  } else {
    std::copy_n(codes + row * matrix.cols, matrix.cols, q.data());
  }
  return matrix.scales[row];
}

/// Adds a model's parts to a .cbm file in the order of docs/format.md.
class Packer {
 public:
  Packer(const Model& model, CbmWriter& writer, PackedWeights weights, std::stop_token stop)
      : model_(model), writer_(writer), weights_(weights), stop_(std::move(stop)) {}

  void add_embeddings() {
    const std::string name = "embeddings.word";
    if (weights_ == PackedWeights::int8) {
      add_s8_rows(name, model_.word_embeddings);
    } else {
      add_f16(name, model_.word_embeddings);
    }
    add_small("embeddings.position", model_.position_embeddings);
    add_small("embeddings.token_type", model_.token_type_embeddings);
    add_norm("embeddings.norm", model_.embedding_norm);
  }

  void add_layer(const std::string& name, const LayerWeights& layer) {
    // Side by side, so that the three can be read as one matrix with 3·hidden output channels.
    add_products(
        {{name + ".query", &layer.query}, {name + ".key", &layer.key}, {name + ".value", &layer.value}});
    add_products({{name + ".attention_output", &layer.attention_output}});
    add_norm(name + ".attention_norm", layer.attention_norm);
    add_products({{name + ".intermediate", &layer.intermediate}});
    add_products({{name + ".output", &layer.output}});
    add_norm(name + ".output_norm", layer.output_norm);
  }

  void add_small_linear(const std::string& name, const Linear& linear) {
    add_small(name + ".weight", linear.weight);
    add_floats(name + ".bias", linear.bias);
  }

  /// Of the layers' products.
  double snr_db() const {
    return noise_ == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal_ / noise_);
  }
  std::size_t inexact_f16() const { return inexact_f16_; }

 private:
  using Named = std::pair<std::string, const Linear*>;

  std::vector<float> widened_row(const std::string& name, const WeightMatrix& matrix, std::size_t row) const {
    if (stop_.stop_requested()) {
      throw Error(ErrorCode::cancelled, "packing " + model_.name + " was cancelled");
    }
    std::vector<float> values(matrix.cols);
    matrix.widen_row(row, values.data());
    check_finite(values, model_.name + ": row " + std::to_string(row) + " of " + name);
    return values;
  }

  void add_floats(const std::string& name, std::span<const float> values) {
    check_finite(values, model_.name + ": " + name);
    writer_.add(name, SectionType::f32, {values.size()}, std::as_bytes(values));
  }

  void add_norm(const std::string& name, const LayerNormWeights& norm) {
    add_floats(name + ".gamma", norm.gamma);
    add_floats(name + ".beta", norm.beta);
  }

  void add_products(std::initializer_list<Named> group) {
    if (weights_ == PackedWeights::int8) {
      add_panels(group);
    } else {
      for (const auto& [name, linear] : group) {
        add_f16(name + ".weight", linear->weight, true);
      }
    }
    for (const auto& [name, linear] : group) {
      add_floats(name + ".bias", linear->bias);
    }
  }

  void add_panels(std::initializer_list<Named> group) {
    std::vector<std::vector<float>> scales;
    std::vector<std::vector<std::int32_t>> sums;
    for (const auto& [name, linear] : group) {
      const auto& [rows, cols] = std::pair(linear->weight.rows, linear->weight.cols);
      std::vector<std::int8_t> panels(kernels::s8_panel_size(rows, cols));
      std::vector<std::int8_t> q(cols);
      scales.emplace_back(rows);
      sums.emplace_back(kernels::padded(rows));
      for (std::size_t row = 0; row < rows; ++row) {
        const auto values = widened_row(name + ".weight", linear->weight, row);
        scales.back()[row] =
            is_packed(linear->weight) ? take_packed(linear->weight, row, q) : quantise_channel(values, q);
        for (std::size_t k = 0; k < cols; ++k) {
          sums.back()[row] += q[k];
          count_error(values[k], scales.back()[row] * static_cast<float>(q[k]));
        }
        kernels::put_s8_panel_row(panels.data(), rows, cols, row, q.data());
      }
      writer_.add(name + ".weight", SectionType::s8_panels, {rows, cols}, bytes_of(panels));
    }
    std::size_t at = 0;
    for (const auto& [name, linear] : group) {
      writer_.add(name + ".weight.scales", SectionType::f32, {scales[at].size()}, bytes_of(scales[at]));
      ++at;
    }
    at = 0;
    for (const auto& [name, linear] : group) {
      writer_.add(name + ".weight.column_sums", SectionType::s32, {sums[at].size()}, bytes_of(sums[at]));
      ++at;
    }
  }

  void add_s8_rows(const std::string& name, const WeightMatrix& matrix) {
    std::vector<std::int8_t> quantised(matrix.rows * matrix.cols);
    std::vector<float> scales(matrix.rows);
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      const auto q = std::span(quantised).subspan(row * matrix.cols, matrix.cols);
      const auto values = widened_row(name, matrix, row);
      scales[row] = is_packed(matrix) ? take_packed(matrix, row, q) : quantise_row(values, q);
    }
    writer_.add(name, SectionType::s8, {matrix.rows, matrix.cols}, bytes_of(quantised));
    writer_.add(name + ".scales", SectionType::f32, {scales.size()}, bytes_of(scales));
  }

  void add_f16(const std::string& name, const WeightMatrix& matrix, bool product = false) {
    std::vector<std::uint16_t> halves;
    halves.reserve(matrix.rows * matrix.cols);
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      for (const float value : widened_row(name, matrix, row)) {
        halves.push_back(f32_to_f16(value));
        const float kept = f16_to_f32(halves.back());
        if (std::isinf(kept)) {
          throw Error(ErrorCode::bad_model, model_.name + ": row " + std::to_string(row) + " of " + name +
                                                " has the value " + std::to_string(value) +
                                                ", beyond f16's largest, 65504");
        }
        inexact_f16_ += kept != value;
        if (product) {
          count_error(value, kept);
        }
      }
    }
    writer_.add(name, SectionType::f16, {matrix.rows, matrix.cols}, bytes_of(halves));
  }

  /// f16 where that loses nothing, else f32.
  void add_small(const std::string& name, const WeightMatrix& matrix) {
    std::vector<float> values;
    std::vector<std::uint16_t> halves;
    bool exact = true;
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      for (const float value : widened_row(name, matrix, row)) {
        values.push_back(value);
        halves.push_back(f32_to_f16(value));
        exact = exact && f16_to_f32(halves.back()) == value;
      }
    }
    if (exact) {
      writer_.add(name, SectionType::f16, {matrix.rows, matrix.cols}, bytes_of(halves));
    } else {
      writer_.add(name, SectionType::f32, {matrix.rows, matrix.cols}, bytes_of(values));
    }
  }

  void count_error(float value, float kept) {
    signal_ += double{value} * value;
    noise_ += (double{value} - kept) * (double{value} - kept);
  }

  const Model& model_;
  CbmWriter& writer_;
  PackedWeights weights_;
  std::stop_token stop_;
  double signal_ = 0;
  double noise_ = 0;
  std::size_t inexact_f16_ = 0;
};

/// Of the files that the weights first came from.
std::string source_sha256(const Model& model) {
  if (!model.source_sha256.empty() || model.format != "Hugging Face folder") {
    return model.source_sha256;
  }
  Sha256 hash;
  for (const auto& file : model.weight_files) {
    hash.update(file);
  }
  return hash.finish();
}

}  // namespace

PackReport pack_model(const Model& model, const std::filesystem::path& out, PackedWeights weights,
                      std::stop_token stop) {
  const std::string metadata =
      write_cbm_metadata({model.config, model.tokenizer_settings, weights, source_sha256(model)});
  if (metadata.size() > cbm::kLongestMetadata) {
    throw Error(ErrorCode::unsupported_model, model.name + ": labels and added tokens take more than 1 MiB");
  }
  // Metadata and vocabulary; embeddings; of each layer six biases and four LayerNorm vectors beside the
  // weights, which s8 accompanies with scales and column sums; pooler and classifier.
  const bool int8 = weights == PackedWeights::int8;
  const std::size_t sections = 2 + (int8 ? 6 : 5) + model.layers.size() * (10 + 6 * (int8 ? 3 : 1)) + 4;
  CbmWriter writer(out, sections);
  writer.add("metadata", SectionType::bytes, {metadata.size()}, std::as_bytes(std::span(metadata)));
  const auto vocabulary = model.vocabulary.block();
  writer.add("vocabulary", SectionType::bytes, {vocabulary.size()}, vocabulary);
  Packer packer(model, writer, weights, std::move(stop));
  packer.add_embeddings();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    packer.add_layer("layer." + std::to_string(i), model.layers[i]);
  }
  packer.add_small_linear("pooler", model.pooler);
  packer.add_small_linear("classifier", model.classifier);
  return {writer.finish(), packer.snr_db(), packer.inexact_f16()};
}

}  // namespace crossbill::loader
