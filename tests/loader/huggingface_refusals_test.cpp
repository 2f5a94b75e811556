// Hugging Face folders that are refused, and what the sentences say.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/model.hpp"
#include "tests/loader/expect_error.hpp"
#include "tests/loader/folder_fixture.hpp"
#include "tests/loader/temporary_folder.hpp"
#include "tests/loader/tensor_files.hpp"

namespace crossbill::loader {
namespace {

namespace fs = std::filesystem;

TEST_F(Folder, EveryMissingTensorIsNamed) {
  const auto original = tensors;
  for (const auto& [name, tensor] : original) {
    if (name.ends_with("position_ids") || name.starts_with("classifier.")) {
      continue;
    }
    tensors = original;
    tensors.erase(name);
    expect_refused(ErrorCode::bad_model, {"model.safetensors", "\"" + name + "\"", "missing"});
  }
}

// Case L5: without a classification head there is nothing to score with.
TEST_F(Folder, BareEncoderIsRefused) {
  rename_tensors([](const std::string& name) { return name.starts_with("classifier.") ? "" : name; });
  expect_refused(ErrorCode::unsupported_model,
                 {"model.safetensors", "no classification head", "classifier.weight"});
  config["architectures"] = {"BertModel"};
  expect_refused(ErrorCode::unsupported_model, {"config.json", "no classification head", "BertModel"});
}

TEST_F(Folder, HalfAClassifierIsRefused) {
  tensors.erase("classifier.bias");
  expect_refused(ErrorCode::bad_model, {"\"classifier.bias\"", "missing", "[1]"});
}

// Case N1: a pooler with one of its two tensors is not silently skipped.
TEST_F(Folder, HalfAPoolerIsRefused) {
  const auto original = tensors;
  tensors.erase("bert.pooler.dense.bias");
  expect_refused(ErrorCode::bad_model, {"\"bert.pooler.dense.bias\"", "missing", "[40]"});
  tensors = original;
  tensors.erase("bert.pooler.dense.weight");
  expect_refused(ErrorCode::bad_model, {"\"bert.pooler.dense.weight\"", "missing", "[40, 40]"});
}

// Case T28: a BERT with another kind of tokenizer is not read as WordPiece.
TEST_F(Folder, OtherTokenizersAreRefusedByName) {
  auto json = nlohmann::json::parse(read_file(folder / "tokenizer.json"));
  json["model"]["type"] = "Unigram";
  write_file(folder / "tokenizer.json", json.dump());
  expect_refused(ErrorCode::unsupported_model, {"tokenizer.json", "Unigram"});
}

TEST_F(Folder, MisshapenTensorsAreNamedWithBothShapes) {
  tensors.at("bert.encoder.layer.1.intermediate.dense.weight").shape = {40, 72};
  expect_refused(ErrorCode::bad_model, {"model.safetensors", "bert.encoder.layer.1.intermediate.dense.weight",
                                        "[40, 72]", "[72, 40]"});
}

TEST_F(Folder, RankIsPartOfTheShape) {
  tensors.at("bert.encoder.layer.0.output.dense.bias").shape = {1, 40};
  expect_refused(ErrorCode::bad_model, {"bert.encoder.layer.0.output.dense.bias", "[1, 40]", "[40]"});
}

TEST_F(Folder, LabelsMustMatchTheClassifier) {
  config.erase("id2label");  // then there are two
  expect_refused(ErrorCode::bad_model, {"\"classifier.weight\"", "[1, 40]", "[2, 40]"});
}

TEST_F(Folder, WrongTypesAreNamed) {
  auto& bias = tensors.at("bert.pooler.dense.bias");
  bias = {"I32", bias.shape, bias.bytes};
  expect_refused(ErrorCode::bad_model, {"bert.pooler.dense.bias", "I32", "BF16"});
}

TEST_F(Folder, VectorsThatAreNotFiniteAreRefused) {
  const float nan = std::nanf("");
  std::memcpy(tensors.at("bert.embeddings.LayerNorm.bias").bytes.data() + 12, &nan, sizeof nan);
  expect_refused(ErrorCode::bad_model, {"bert.embeddings.LayerNorm.bias", "not finite", "3"});
}

TEST_F(Folder, VocabularyMustFitTheEmbeddings) {
  auto& rows = tensors.at("bert.embeddings.word_embeddings.weight");
  rows.shape[0] -= 1;
  rows.bytes.resize(rows.bytes.size() - 160);
  config["vocab_size"] = rows.shape[0];
  expect_refused(ErrorCode::bad_model,
                 {"vocabulary", std::to_string(rows.shape[0]), std::to_string(rows.shape[0] + 1)});
}

TEST_F(Folder, TokenTypesMustFitTheEmbeddings) {
  auto& rows = tensors.at("bert.embeddings.token_type_embeddings.weight");
  rows = {"F32", {1, 40}, rows.bytes.substr(0, 160)};
  config["type_vocab_size"] = 1;
  expect_refused(ErrorCode::bad_model, {"token types", "type_vocab_size"});
}

TEST_F(Folder, OtherFormatsAreRefusedWithTheConvertingCommand) {
  write_file(folder / "config.json", config.dump());
  expect_error([&] { open_model(folder.path()); }, ErrorCode::file_error, {"model.safetensors"});
  const std::string command = "python3 tools/convert_to_safetensors.py " + folder.path().string();
  fs::create_directory(folder / "onnx");
  write_file(folder.path() / "onnx" / "model.onnx", "x");
  expect_error([&] { open_model(folder.path()); }, ErrorCode::unsupported_model, {"model.onnx", command});
  fs::remove_all(folder / "onnx");
  write_file(folder / "pytorch_model.bin", "x");
  expect_error([&] { open_model(folder.path()); }, ErrorCode::unsupported_model,
               {"pytorch_model.bin", command});
  expect_error([&] { open_model(folder / "pytorch_model.bin"); }, ErrorCode::unsupported_model, {command});
  for (const char* relative : {"model.onnx", "onnx/model.onnx", "pytorch_model.bin"}) {
    expect_error([&] { open_model(relative); }, ErrorCode::unsupported_model,
                 {"convert_to_safetensors.py ."});
  }
}

TEST_F(Folder, MissingPathsAndFilesAreNamed) {
  expect_error([&] { open_model(folder / "nowhere"); }, ErrorCode::file_error, {"nowhere"});
  save();
  fs::remove(folder / "config.json");
  expect_error([&] { open_model(folder.path()); }, ErrorCode::file_error, {"config.json"});
}

TEST_F(Folder, FilesThatAreNotFilesAreErrors) {
  save();
  fs::remove(folder / "model.safetensors");
  fs::create_directory(folder / "model.safetensors");
  expect_error([&] { open_model(folder.path()); }, ErrorCode::file_error, {"model.safetensors", "folder"});
  fs::remove(folder / "model.safetensors");
  ASSERT_EQ(::mkfifo((folder / "model.safetensors").c_str(), 0600), 0);
  expect_error([&] { open_model(folder.path()); }, ErrorCode::file_error, {"model.safetensors", "regular"});
  fs::remove(folder / "model.safetensors");
  write_file(folder / "model.safetensors", "");
  expect_error([&] { open_model(folder.path()); }, ErrorCode::file_error, {"model.safetensors", "empty"});
}

}  // namespace
}  // namespace crossbill::loader
