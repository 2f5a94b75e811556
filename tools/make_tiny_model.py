#!/usr/bin/env python3
"""Write the tiny random-weight models that the tests open, and pairs to score with them.

Needs torch and safetensors. OUT gets two Hugging Face folders and a list of pairs:

  one-label/     float32, tokenizer.json, with the int64 buffer position_ids that some checkpoints have
  three-labels/  bfloat16, cased, tanh GELU, sigmoid scores, named labels, vocab.txt and no tokenizer.json
  pairs.jsonl    query and passage a line

Golden logits are made from them with make_golden_scores.py. The sizes are awkward on purpose: no dimension is a
multiple of 16, so that nothing may rely on padding. Weights come from Python's own generator with a fixed seed and are
so wide that logits differ a lot from pair to pair; the same files come out wherever this runs.
"""

import argparse
import json
import pathlib
import random
import string

import safetensors.torch
import torch

HIDDEN, HEADS, INTERMEDIATE, LAYERS, POSITIONS = 40, 4, 72, 2, 61
SPECIAL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """
the a an of to in on at is are was it and or not for with by from as be this that what where who when how why which
river water stone bird crow pine cone seed tree forest mountain snow winter summer rain cloud sun moon star night day
red green blue black white small large old new fast slow warm cold bread salt milk tea apple nut
open close read write count sort find build carry sing sleep walk run grow fall keep give take
engine model score pair query passage token layer head word list file page number name
house road bridge boat city market school music letter map clock lamp key door window garden
""".split()
PIECES = ["##s", "##es", "##ed", "##ing", "##er", "##ly", "##ness", "##un"]
PAIRS = [
    ["what does a crow eat", "The crow eats seeds, nuts and apples."],
    ["what does a crow eat", "The bridge over the river was built of stone."],
    ["where is the market", "The market is in the old city, by the river."],
    ["where is the market", ""],
    ["", "Snow falls on the mountain in winter."],
    ["how to sort a list", "Read the list, count the words, and write a new one."],
    ["red green blue", "black white"],
    ["key", "door"],
    ["Why is tea warm?", "Tea keeps warm in a small lamp-lit room; it cools slowly."],
    ["unknown ÄÖÜ words 12345", "naïve café — résumé!"],
    ["[MASK] of the house", "the [SEP] garden"],
    ["a word to count", "word " * 90],
    ["long query " * 40, "long passage " * 40],
    ["who walks on the road at night", "An old bird sings from the pine tree until the sun is up."],
]


def vocabulary():
    letters = string.ascii_lowercase + string.digits
    tokens = SPECIAL + list(letters) + list("!?.,;:-'\"()") + ["##" + c for c in letters] + WORDS + PIECES
    tokens += ["The", "Tea", "Snow", "An"]  # only the cased model finds these
    return list(dict.fromkeys(tokens))


class Weights:
    """Tensors by name, drawn in the order of their making."""

    def __init__(self, seed, dtype):
        self.random = random.Random(seed)
        self.dtype = dtype
        self.tensors = {}

    def draw(self, name, shape, spread, centre=0.0):
        count = torch.Size(shape).numel()
        values = [self.random.gauss(centre, spread) for _ in range(count)]
        self.tensors[name] = torch.tensor(values, dtype=torch.float64).reshape(shape).to(self.dtype)

    def linear(self, name, rows, cols, gain=1.5):
        self.draw(name + ".weight", (rows, cols), gain / cols**0.5)
        self.draw(name + ".bias", (rows,), 0.3)

    def norm(self, name):
        self.draw(name + ".weight", (HIDDEN,), 0.2, centre=1.0)
        self.draw(name + ".bias", (HIDDEN,), 0.3)


def make_weights(seed, dtype, labels, tokens):
    weights = Weights(seed, dtype)
    weights.draw("bert.embeddings.word_embeddings.weight", (tokens, HIDDEN), 1.0)
    weights.draw("bert.embeddings.position_embeddings.weight", (POSITIONS, HIDDEN), 0.4)
    weights.draw("bert.embeddings.token_type_embeddings.weight", (2, HIDDEN), 0.4)
    weights.norm("bert.embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"bert.encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            weights.linear(name + "attention.self." + part, HIDDEN, HIDDEN)
        weights.linear(name + "attention.output.dense", HIDDEN, HIDDEN)
        weights.norm(name + "attention.output.LayerNorm")
        weights.linear(name + "intermediate.dense", INTERMEDIATE, HIDDEN)
        weights.linear(name + "output.dense", HIDDEN, INTERMEDIATE)
        weights.norm(name + "output.LayerNorm")
    weights.linear("bert.pooler.dense", HIDDEN, HIDDEN)
    weights.linear("classifier", labels, HIDDEN, gain=6.0)
    return weights.tensors


def config(labels, act, activation, tokens):
    return {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INTERMEDIATE,
        "vocab_size": tokens,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "hidden_act": act,
        "layer_norm_eps": 1e-12,
        "id2label": {str(i): name for i, name in enumerate(labels)},
        "label2id": {name: i for i, name in enumerate(labels)},
        "sentence_transformers": {"activation_fn": activation},
    }


def tokenizer_json(tokens):
    ids = {token: i for i, token in enumerate(tokens)}

    def special(token, kind):
        return {"SpecialToken": {"id": token, "type_id": kind}}

    def text(side, kind):
        return {"Sequence": {"id": side, "type_id": kind}}

    single = [special("[CLS]", 0), text("A", 0), special("[SEP]", 0)]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[t], "content": t, **flags} for t in SPECIAL if t != "[unused0]"],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": single + [text("B", 1), special("[SEP]", 1)],
            "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }


def tokenizer_config(lower, max_length):
    tokens = {"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]", "pad_token": "[PAD]", "mask_token": "[MASK]"}
    return {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": lower,
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "model_max_length": max_length,
        **tokens,
    }


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_one_label(folder, tokens):
    folder.mkdir(parents=True, exist_ok=True)
    weights = make_weights(20240611, torch.float32, 1, len(tokens))
    weights["bert.embeddings.position_ids"] = torch.arange(POSITIONS).reshape(1, POSITIONS)
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_json(folder / "config.json", config(["relevance"], "gelu", "torch.nn.modules.linear.Identity", len(tokens)))
    write_json(folder / "tokenizer.json", tokenizer_json(tokens))
    write_json(folder / "tokenizer_config.json", tokenizer_config(True, POSITIONS))


def write_three_labels(folder, tokens):
    folder.mkdir(parents=True, exist_ok=True)
    weights = make_weights(20240612, torch.bfloat16, 3, len(tokens))
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    labels = ["contradiction", "entailment", "neutral"]
    activation = "torch.nn.modules.activation.Sigmoid"
    write_json(folder / "config.json", config(labels, "gelu_new", activation, len(tokens)))
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    # The number that the transformers library writes for "no limit"; it exceeds 64 bits.
    write_json(folder / "tokenizer_config.json", tokenizer_config(False, int(1e30)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    tokens = vocabulary()
    write_one_label(out / "one-label", tokens)
    write_three_labels(out / "three-labels", tokens)
    lines = [json.dumps({"query": q, "passage": p}, ensure_ascii=False) + "\n" for q, p in PAIRS]
    (out / "pairs.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
