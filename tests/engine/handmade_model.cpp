#include "handmade_model.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace crossbill::engine::test {

namespace {

loader::WeightMatrix matrix(const Tensors& tensors, const std::string& name) {
  const Tensor& tensor = tensors.at(name);
  loader::WeightMatrix view;
  view.rows = tensor.shape.at(0);
  view.cols = tensor.shape.at(1);
  view.data = reinterpret_cast<const std::byte*>(tensor.values.data());
  return view;
}

loader::WeightMatrix matrix_if_there(const Tensors& tensors, const std::string& name) {
  return tensors.contains(name) ? matrix(tensors, name) : loader::WeightMatrix{};
}

loader::Linear linear(const Tensors& tensors, const std::string& name) {
  return {matrix(tensors, name + ".weight"), tensors.at(name + ".bias").values};
}

loader::LayerNormWeights norm(const Tensors& tensors, const std::string& name) {
  return {tensors.at(name + ".weight").values, tensors.at(name + ".bias").values};
}

/// Fills tensors with values around `mean`.
class Filler {
 public:
  Filler(Tensors& tensors, unsigned seed) : tensors_(tensors), random_(seed) {}

  void fill(const std::string& name, std::vector<std::size_t> shape, float mean, double deviation) {
    Tensor& tensor = tensors_[name];
    tensor.shape = std::move(shape);
    tensor.values.resize(
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::size_t{1}, std::multiplies<>()));
    std::normal_distribution<float> values(mean, static_cast<float>(deviation));
    for (float& value : tensor.values) value = values(random_);
  }
  void fill_linear(const std::string& name, std::size_t out, std::size_t in) {
    fill(name + ".weight", {out, in}, 0, 1.5 / std::sqrt(static_cast<double>(in)));
    fill(name + ".bias", {out}, 0, 0.3);
  }
  void fill_norm(const std::string& name, std::size_t size) {
    fill(name + ".weight", {size}, 1, 0.2);
    fill(name + ".bias", {size}, 0, 0.2);
  }

 private:
  Tensors& tensors_;
  std::mt19937 random_;
};

const std::string kLayer = "bert.encoder.layer.";

}  // namespace

Tensors read_f32_safetensors(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (bytes.size() < 8) throw std::runtime_error("can't read " + file.string());
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), 8);
  const auto header = nlohmann::json::parse(bytes.substr(8, header_size));
  Tensors tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    if (entry.at("dtype") != "F32") throw std::runtime_error(name + " is not F32");
    Tensor& tensor = tensors[name];
    entry.at("shape").get_to(tensor.shape);
    const auto span = entry.at("data_offsets").get<std::vector<std::size_t>>();
    tensor.values.resize((span.at(1) - span.at(0)) / sizeof(float));
    std::memcpy(tensor.values.data(), bytes.data() + 8 + header_size + span[0], span[1] - span[0]);
  }
  return tensors;
}

std::shared_ptr<const loader::Model> model_from_tensors(const loader::Config& config, Tensors tensors) {
  const auto owned = std::make_shared<const Tensors>(std::move(tensors));
  auto model = std::make_shared<loader::Model>();
  model->config = config;
  model->word_embeddings = matrix_if_there(*owned, "bert.embeddings.word_embeddings.weight");
  model->position_embeddings = matrix_if_there(*owned, "bert.embeddings.position_embeddings.weight");
  model->token_type_embeddings = matrix_if_there(*owned, "bert.embeddings.token_type_embeddings.weight");
  if (owned->contains("bert.embeddings.LayerNorm.weight"))
    model->embedding_norm = norm(*owned, "bert.embeddings.LayerNorm");
  for (std::size_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    const std::string name = kLayer + std::to_string(layer);
    model->layers.push_back(
        {linear(*owned, name + ".attention.self.query"), linear(*owned, name + ".attention.self.key"),
         linear(*owned, name + ".attention.self.value"), linear(*owned, name + ".attention.output.dense"),
         norm(*owned, name + ".attention.output.LayerNorm"), linear(*owned, name + ".intermediate.dense"),
         linear(*owned, name + ".output.dense"), norm(*owned, name + ".output.LayerNorm")});
  }
  model->pooler = linear(*owned, "bert.pooler.dense");
  model->classifier = linear(*owned, "classifier");
  model->name = "memory";
  model->storage = owned;
  return model;
}

std::shared_ptr<const loader::Model> random_model(const loader::Config& config, unsigned seed) {
  const std::size_t hidden = config.hidden_size;
  Tensors tensors;
  Filler filler(tensors, seed);
  filler.fill("bert.embeddings.word_embeddings.weight", {config.vocab_size, hidden}, 0, 1);
  filler.fill("bert.embeddings.position_embeddings.weight", {config.max_position_embeddings, hidden}, 0, 1);
  filler.fill("bert.embeddings.token_type_embeddings.weight", {config.type_vocab_size, hidden}, 0, 1);
  filler.fill_norm("bert.embeddings.LayerNorm", hidden);
  for (std::size_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    const std::string name = kLayer + std::to_string(layer);
    for (const char* part :
         {".attention.self.query", ".attention.self.key", ".attention.self.value", ".attention.output.dense"})
      filler.fill_linear(name + part, hidden, hidden);
    filler.fill_norm(name + ".attention.output.LayerNorm", hidden);
    filler.fill_linear(name + ".intermediate.dense", config.intermediate_size, hidden);
    filler.fill_linear(name + ".output.dense", hidden, config.intermediate_size);
    filler.fill_norm(name + ".output.LayerNorm", hidden);
  }
  filler.fill_linear("bert.pooler.dense", hidden, hidden);
  filler.fill_linear("classifier", config.num_labels, hidden);
  return model_from_tensors(config, std::move(tensors));
}

loader::Config small_config(std::size_t layers, std::size_t heads, std::size_t head_dim,
                            std::size_t intermediate, std::size_t labels,
                            loader::HiddenActivation activation) {
  loader::Config config;
  config.num_hidden_layers = layers;
  config.num_attention_heads = heads;
  config.hidden_size = heads * head_dim;
  config.intermediate_size = intermediate;
  config.vocab_size = 100;
  config.max_position_embeddings = 80;
  config.type_vocab_size = 2;
  config.num_labels = labels;
  config.hidden_act = activation;
  return config;
}

EncodedPair random_pair(const loader::Config& config, std::size_t tokens, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int32_t> ids(0, static_cast<std::int32_t>(config.vocab_size) - 1);
  const std::size_t query = std::uniform_int_distribution<std::size_t>(1, tokens)(random);
  EncodedPair pair;
  for (std::size_t token = 0; token < tokens; ++token) {
    pair.ids.push_back(ids(random));
    pair.type_ids.push_back(token < query ? 0 : 1);
  }
  return pair;
}

}  // namespace crossbill::engine::test
