#include "loader/config.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "crossbill/error.hpp"
#include "tests/loader/expect_error.hpp"

namespace crossbill::loader {
namespace {

nlohmann::json sound() {
  return {{"architectures", {"BertForSequenceClassification"}},
          {"model_type", "bert"},
          {"num_hidden_layers", 6},
          {"hidden_size", 384},
          {"num_attention_heads", 12},
          {"intermediate_size", 1536},
          {"vocab_size", 30522},
          {"max_position_embeddings", 512},
          {"type_vocab_size", 2}};
}

Config parse(const nlohmann::json& json) {
  return parse_config_json(json.dump(), "config.json");
}

Config parse_with(const std::string& key, const nlohmann::json& value) {
  auto json = sound();
  json[key] = value;
  return parse(json);
}

void expect_refused(const std::string& key, const nlohmann::json& value, ErrorCode code,
                    std::initializer_list<std::string> words) {
  expect_error([&] { parse_with(key, value); }, code, words);
}

TEST(Config, ReadsSizes) {
  const Config config = parse(sound());
  EXPECT_EQ(config.num_hidden_layers, 6u);
  EXPECT_EQ(config.hidden_size, 384u);
  EXPECT_EQ(config.head_dim(), 32u);
  EXPECT_EQ(config.intermediate_size, 1536u);
  EXPECT_EQ(config.vocab_size, 30522u);
  EXPECT_EQ(config.max_position_embeddings, 512u);
  EXPECT_EQ(config.type_vocab_size, 2u);
}

TEST(Config, DefaultsAreHuggingFaces) {
  const Config config = parse(sound());
  EXPECT_EQ(config.hidden_act, HiddenActivation::gelu_erf);
  EXPECT_EQ(config.layer_norm_eps, 1e-12f);
  EXPECT_EQ(config.score_activation, ScoreActivation::identity);
  EXPECT_EQ(config.num_labels, 2u);
  EXPECT_EQ(config.labels, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
}

TEST(Config, TakesSizesFromTinyToLarge) {
  auto json = sound();
  json["hidden_size"] = 312;  // TinyBERT with 26 wide heads
  json["num_hidden_layers"] = 4;
  EXPECT_EQ(parse(json).head_dim(), 26u);
  json["hidden_size"] = 128;
  json["num_attention_heads"] = 2;
  json["num_hidden_layers"] = 2;
  EXPECT_EQ(parse(json).head_dim(), 64u);
  json["hidden_size"] = 1024;
  json["num_attention_heads"] = 16;
  json["num_hidden_layers"] = 24;
  json["intermediate_size"] = 4096;
  EXPECT_EQ(parse(json).head_dim(), 64u);
}

TEST(Config, HiddenActByName) {
  EXPECT_EQ(parse_with("hidden_act", "gelu").hidden_act, HiddenActivation::gelu_erf);
  EXPECT_EQ(parse_with("hidden_act", "gelu_new").hidden_act, HiddenActivation::gelu_tanh);
  EXPECT_EQ(parse_with("hidden_act", "gelu_pytorch_tanh").hidden_act, HiddenActivation::gelu_tanh);
  EXPECT_EQ(parse_with("hidden_act", "relu").hidden_act, HiddenActivation::relu);
  expect_refused("hidden_act", "swish", ErrorCode::unsupported_model, {"config.json", "hidden_act", "swish"});
  expect_refused("hidden_act", "gelu_fast", ErrorCode::unsupported_model, {"gelu_fast"});
  expect_refused("hidden_act", 3, ErrorCode::bad_model, {"hidden_act", "3", "string"});
}

TEST(Config, LayerNormEpsilonComesFromTheFile) {
  EXPECT_EQ(parse_with("layer_norm_eps", 1e-5).layer_norm_eps, 1e-5f);
  for (const double wrong : {0.0, -1e-12, 1.0, 1e300, 1e-60}) {
    expect_refused("layer_norm_eps", wrong, ErrorCode::bad_model, {"layer_norm_eps"});
  }
}

TEST(Config, LabelsAreCountedAsHuggingFaceDoes) {
  EXPECT_EQ(parse_with("num_labels", 1).labels, std::vector<std::string>{"LABEL_0"});
  auto json = sound();
  json["id2label"] = {{"1", "entailment"}, {"0", "contradiction"}, {"2", "neutral"}};
  EXPECT_EQ(parse(json).labels, (std::vector<std::string>{"contradiction", "entailment", "neutral"}));
  json["num_labels"] = 1;  // id2label wins
  EXPECT_EQ(parse(json).num_labels, 3u);
  json["id2label"] = {{"0", 0}, {"1", 1}};  // some checkpoints name labels by numbers
  EXPECT_EQ(parse(json).labels, (std::vector<std::string>{"0", "1"}));
}

TEST(Config, LabelIdsMustBeDense) {
  for (const char* text :
       {R"({"1": "a"})", R"({"0": "a", "2": "b"})", R"({"zero": "a"})", R"({"0": null})", R"({"-1": "a"})",
        R"({"00": "a"})", R"({"0x0": "a"})", R"({"18446744073709551616": "a"})"}) {
    expect_refused("id2label", nlohmann::json::parse(text), ErrorCode::bad_model, {"id2label"});
  }
  expect_refused("id2label", nlohmann::json::object(), ErrorCode::bad_model, {"id2label"});
  expect_refused("num_labels", 0, ErrorCode::bad_model, {"num_labels", "0"});
  expect_refused("num_labels", 1'000'000'000'000, ErrorCode::bad_model, {"num_labels"});
}

TEST(Config, ScoreActivationByEitherKey) {
  const char* identity = "torch.nn.modules.linear.Identity";
  const char* sigmoid = "torch.nn.modules.activation.Sigmoid";
  auto json = sound();
  json["sentence_transformers"] = {{"activation_fn", sigmoid}, {"version", "4.1.0"}};
  EXPECT_EQ(parse(json).score_activation, ScoreActivation::sigmoid);
  json["sbert_ce_default_activation_function"] = identity;  // the newer key wins
  EXPECT_EQ(parse(json).score_activation, ScoreActivation::sigmoid);
  json["sentence_transformers"] = {{"activation_fn", identity}};
  EXPECT_EQ(parse(json).score_activation, ScoreActivation::identity);
  EXPECT_EQ(parse_with("sbert_ce_default_activation_function", sigmoid).score_activation,
            ScoreActivation::sigmoid);
  EXPECT_EQ(parse_with("sbert_ce_default_activation_function", nullptr).score_activation,
            ScoreActivation::identity);
  expect_refused("sbert_ce_default_activation_function", "torch.nn.modules.activation.Tanh",
                 ErrorCode::unsupported_model, {"config.json", "torch.nn.modules.activation.Tanh"});
}

TEST(Config, OtherArchitecturesAreNamed) {
  expect_refused("architectures", {"RobertaForSequenceClassification"}, ErrorCode::unsupported_model,
                 {"config.json", "RobertaForSequenceClassification", "BertForSequenceClassification"});
  expect_refused("architectures", {"BertModel"}, ErrorCode::unsupported_model,
                 {"no classification head", "BertModel"});
  expect_refused("architectures", "BertModel", ErrorCode::bad_model, {"architectures", "list"});
  expect_refused("model_type", "electra", ErrorCode::unsupported_model, {"electra"});
  expect_refused("position_embedding_type", "relative_key", ErrorCode::unsupported_model,
                 {"relative_key", "absolute"});
  expect_refused("is_decoder", true, ErrorCode::unsupported_model, {"is_decoder"});
}

TEST(Config, ArchitectureMayBeUnsaid) {
  auto json = sound();
  json.erase("architectures");
  json.erase("model_type");
  EXPECT_EQ(parse(json).hidden_size, 384u);
}

TEST(Config, MissingAndWrongFieldsAreNamedWithWhatIsExpected) {
  for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size",
                          "vocab_size", "max_position_embeddings", "type_vocab_size"}) {
    auto json = sound();
    json.erase(key);
    expect_error([&] { parse(json); }, ErrorCode::bad_model, {"config.json", key, "missing", "whole number"});
    for (const nlohmann::json& wrong :
         {nlohmann::json(0), nlohmann::json(-1), nlohmann::json(6.5), nlohmann::json("6"),
          nlohmann::json(true), nlohmann::json(1e18), nlohmann::json(18446744073709551615u)}) {
      expect_refused(key, wrong, ErrorCode::bad_model, {"config.json", key, "whole number"});
    }
  }
  expect_refused("num_attention_heads", 7, ErrorCode::bad_model, {"num_attention_heads", "7", "384"});
}

TEST(Config, HostileJsonIsAnError) {
  const std::string name = "config.json";
  const auto refuse = [&](const std::string& text, std::initializer_list<std::string> words) {
    expect_error([&] { parse_config_json(text, name); }, ErrorCode::bad_model, words);
  };
  refuse("", {name, "not valid JSON"});
  refuse("[]", {name, "object"});
  refuse("nul", {name, "not valid JSON"});
  refuse("{\"a\": 1", {name, "not valid JSON"});
  refuse("{} {}", {name, "not valid JSON at byte"});
  refuse("{\"a\": \"\xff\"}", {name, "not valid JSON"});
  refuse("{\"a\": 1e999}", {name, "JSON"});
  refuse("{\"a\": 1, \"b\": {\"c\": 1, \"c\": 2}}", {name, "\"c\"", "twice"});
  refuse(std::string(1'000'000, '['), {name, "deep"});
  std::string objects;
  for (int i = 0; i < 200'000; ++i) {
    objects += "{\"a\":";
  }
  refuse(objects, {name, "deep"});
}

TEST(Config, ControlCharactersDoNotReachTheMessage) {
  try {
    parse_with("hidden_act", "\x1b[2J" + std::string(1000, 'x'));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
    EXPECT_LT(std::string(error.what()).size(), 500u);
  }
}

TEST(Config, WrittenConfigReadsBackTheSame) {
  Config config = parse_with("id2label", {{"0", "no"}, {"1", "yes"}});
  config.hidden_act = HiddenActivation::gelu_tanh;
  config.score_activation = ScoreActivation::sigmoid;
  config.layer_norm_eps = 3e-7f;
  const Config back = parse_config_json(write_config_json(config), "written");
  EXPECT_EQ(back.num_hidden_layers, config.num_hidden_layers);
  EXPECT_EQ(back.hidden_size, config.hidden_size);
  EXPECT_EQ(back.num_attention_heads, config.num_attention_heads);
  EXPECT_EQ(back.intermediate_size, config.intermediate_size);
  EXPECT_EQ(back.vocab_size, config.vocab_size);
  EXPECT_EQ(back.max_position_embeddings, config.max_position_embeddings);
  EXPECT_EQ(back.type_vocab_size, config.type_vocab_size);
  EXPECT_EQ(back.hidden_act, config.hidden_act);
  EXPECT_EQ(back.score_activation, config.score_activation);
  EXPECT_EQ(back.layer_norm_eps, config.layer_norm_eps);
  EXPECT_EQ(back.labels, config.labels);
}

}  // namespace
}  // namespace crossbill::loader
