// Opening Hugging Face folders, on the tiny models of tools/make_tiny_model.py and on variants of them.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/half.hpp"
#include "loader/model.hpp"
#include "tests/loader/expect_error.hpp"
#include "tests/loader/folder_fixture.hpp"
#include "tests/loader/temporary_folder.hpp"
#include "tests/loader/tensor_files.hpp"

namespace crossbill::loader {
namespace {

namespace fs = std::filesystem;

TEST_F(Folder, OpensWithEveryWeightInItsPlace) {
  const auto model = open_model(kOneLabel);
  EXPECT_EQ(model->format, "Hugging Face folder");
  EXPECT_EQ(model->config.num_labels, 1u);
  EXPECT_EQ(model->config.labels, std::vector<std::string>{"relevance"});
  EXPECT_EQ(model->weight_dtype, DType::f32);
  EXPECT_EQ(model->bytes, fs::file_size(kOneLabel / "model.safetensors"));
  EXPECT_EQ(model->layers.size(), 2u);
  EXPECT_EQ(model->layers[0].intermediate.weight.rows, 72u);
  EXPECT_EQ(model->layers[0].intermediate.weight.cols, 40u);
  EXPECT_TRUE(model->unused_tensors.empty());
  expect_same_weights(*model, tensors);
}

TEST_F(Folder, CopyModeGivesTheSameAndOutlivesTheFile) {
  save();
  const auto model = open_model(folder.path(), LoadMode::copy);
  fs::resize_file(folder / "model.safetensors", 10);
  expect_same_weights(*model, tensors);
}

TEST_F(Folder, DataNeedNotBeAligned) {
  write_file(folder / "config.json", config.dump());
  for (std::size_t padding = 0; padding < 8; ++padding) {
    write_tensors(folder / "model.safetensors", tensors, padding);
    expect_same_weights(*open_model(folder.path()), tensors);
  }
}

TEST_F(Folder, ThreeLabelsInBf16FromVocabTxt) {
  const auto model = open_model(kThreeLabels);
  EXPECT_EQ(model->config.labels, (std::vector<std::string>{"contradiction", "entailment", "neutral"}));
  EXPECT_EQ(model->config.hidden_act, HiddenActivation::gelu_tanh);
  EXPECT_EQ(model->config.score_activation, ScoreActivation::sigmoid);
  EXPECT_EQ(model->weight_dtype, DType::bf16);
  EXPECT_EQ(model->classifier.weight.rows, 3u);
  auto widened = read_tensors(kThreeLabels / "model.safetensors");
  for (auto& [name, tensor] : widened) {
    std::string f32;  // a bf16 is the upper half of an f32, little-endian
    for (std::size_t i = 0; i < tensor.bytes.size(); i += 2) {
      f32 += std::string(2, '\0') + tensor.bytes.substr(i, 2);
    }
    tensor.bytes = f32;
  }
  expect_same_weights(*model, widened);
}

TEST_F(Folder, F16WeightsAreWidenedExactly) {
  TestTensors widened;
  for (auto& [name, tensor] : tensors) {
    if (tensor.dtype != "F32") {
      continue;
    }
    std::string halves;
    std::string floats;
    for (const float value : floats_of(tensor)) {
      const std::uint16_t half = f32_to_f16(value);
      const float back = f16_to_f32(half);  // tested against the standard's definition elsewhere
      halves.append(reinterpret_cast<const char*>(&half), 2);
      floats.append(reinterpret_cast<const char*>(&back), 4);
    }
    widened[name] = {"F32", tensor.shape, floats};
    tensor = {"F16", tensor.shape, halves};
  }
  const auto model = open();
  EXPECT_EQ(model->weight_dtype, DType::f16);
  expect_same_weights(*model, widened);
}

// Case L1: old names and a missing prefix are mapped, what is not needed is reported.
TEST_F(Folder, OldLayerNormNamesAreMapped) {
  const auto original = tensors;
  rename_tensors([](std::string name) {
    if (const auto at = name.find("LayerNorm."); at != std::string::npos) {
      name.replace(at, std::string::npos, name.ends_with("weight") ? "LayerNorm.gamma" : "LayerNorm.beta");
    }
    return name;
  });
  ASSERT_TRUE(tensors.contains("bert.embeddings.LayerNorm.gamma"));
  expect_same_weights(*open(), original);
}

TEST_F(Folder, PrefixMayBeMissing) {
  const auto original = tensors;
  rename_tensors([](const std::string& name) { return name.starts_with("bert.") ? name.substr(5) : name; });
  const auto model = open();
  expect_same_weights(*model, original);
  EXPECT_TRUE(model->unused_tensors.empty());
}

TEST_F(Folder, ExtraTensorsAreReported) {
  tensors["cls.predictions.bias"] = {"F32", {1}, std::string(4, '\0')};
  tensors["bert.embeddings.extra"] = {"I64", {}, std::string(8, '\0')};
  EXPECT_EQ(open()->unused_tensors,
            (std::vector<std::string>{"bert.embeddings.extra", "cls.predictions.bias"}));
}

// Google's own BERT configurations say neither architecture nor model type; the tensors decide.
TEST_F(Folder, ArchitectureMayBeUnsaidIfThereIsAClassifier) {
  config.erase("architectures");
  config.erase("model_type");
  EXPECT_EQ(open()->config.num_labels, 1u);
}

// Case L2: the int64 buffer of position ids is neither needed nor in the way.
TEST_F(Folder, PositionIdsBufferMayBeThereOrNot) {
  const auto original = tensors;
  ASSERT_EQ(tensors.at("bert.embeddings.position_ids").dtype, "I64");
  EXPECT_TRUE(open()->unused_tensors.empty());
  tensors.erase("bert.embeddings.position_ids");
  expect_same_weights(*open(), original);
}

// Case L4: vocab.txt alone is enough.
TEST_F(Folder, TokenizerJsonMayBeMissing) {
  const auto with_json = open();
  fs::remove(folder / "tokenizer.json");
  fs::copy_file(kThreeLabels / "vocab.txt", folder / "vocab.txt");
  const auto model = open();
  EXPECT_EQ(model->vocabulary.size(), with_json->vocabulary.size());
  EXPECT_EQ(model->vocabulary.find("crow"), with_json->vocabulary.find("crow"));
  EXPECT_EQ(model->tokenizer_settings.cls_id, with_json->tokenizer_settings.cls_id);
  EXPECT_TRUE(model->tokenizer_settings.lowercase);
}

// Case N5: epsilon is the model's own.
TEST_F(Folder, LayerNormEpsilonIsTheConfigs) {
  config["layer_norm_eps"] = 1e-5;
  EXPECT_EQ(open()->config.layer_norm_eps, 1e-5f);
}

// Case T26: the library's number for "no limit" exceeds 64 bits.
TEST_F(Folder, HugeModelMaxLengthMeansNoLimit) {
  ASSERT_NE(read_file(kThreeLabels / "tokenizer_config.json").find("1000000000000000019884624838656"),
            std::string::npos);
  EXPECT_FALSE(open_model(kThreeLabels)->tokenizer_settings.model_max_length);
  EXPECT_EQ(open_model(kOneLabel)->tokenizer_settings.model_max_length, 61u);
}

/// Splits the tensors into two shards with an index.
class Shards : public Folder {
 protected:
  Shards() {
    write_file(folder / "config.json", config.dump());
    for (const auto& [name, tensor] : tensors) {
      const std::string shard = name < "bert.encoder.layer.1" ? "model-00001-of-00002.safetensors"
                                                              : "model-00002-of-00002.safetensors";
      shards[shard][name] = tensor;
      index["weight_map"][name] = shard;
    }
    for (const auto& [shard, part] : shards) {
      write_tensors(folder / shard, part);
    }
  }

  std::shared_ptr<const Model> open_index() {
    write_file(folder / "model.safetensors.index.json", index.dump());
    return open_model(folder.path());
  }

  std::map<std::string, TestTensors> shards;
  nlohmann::json index;
};

TEST_F(Shards, AreReadThroughTheIndex) {
  const auto model = open_index();
  EXPECT_EQ(shards.size(), 2u);
  EXPECT_EQ(model->weight_files.size(), 2u);
  expect_same_weights(*model, tensors);
}

TEST_F(Shards, ShardWithoutATensorThatTheIndexPromisesIsNamed) {
  index["weight_map"]["classifier.weight"] = "model-00001-of-00002.safetensors";
  expect_error([&] { open_index(); }, ErrorCode::bad_model,
               {"model-00001-of-00002.safetensors", "classifier.weight"});
}

TEST_F(Shards, MissingShardIsNamed) {
  fs::remove(folder / "model-00002-of-00002.safetensors");
  expect_error([&] { open_index(); }, ErrorCode::file_error, {"model-00002-of-00002.safetensors"});
}

TEST_F(Shards, IndexMustNotReachOutside) {
  for (const char* shard : {"../x.safetensors", "/etc/passwd", "..", "", "a/b"}) {
    index["weight_map"]["classifier.weight"] = shard;
    expect_error([&] { open_index(); }, ErrorCode::bad_model, {"index.json", "classifier.weight"});
  }
  index["weight_map"] = 7;
  expect_error([&] { open_index(); }, ErrorCode::bad_model, {"index.json", "weight_map"});
}

}  // namespace
}  // namespace crossbill::loader
