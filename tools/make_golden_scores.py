#!/usr/bin/env python3
"""Write PyTorch's logits for a list of pairs, as golden values for the tests.

Needs torch, transformers and tokenizers. MODEL_FOLDER is a Hugging Face folder of a BertForSequenceClassification,
for example one written by `crossbill unpack`. PAIRS is JSON lines with "query" and "passage"; a text may be an object
{"repeat": [s, n]}, which stands for s written n times. OUT gets one line a pair: the two texts as they came, "ids_len"
(tokens of the pair, [CLS] and both [SEP] included, after truncation) and "logit", or "logits" if the model has several
labels.

Every pair goes through the model alone and unpadded, in float32, so that no mask, padding or batch can touch the
result. Ids come from the `tokenizers` library: longest_first truncation to 512 tokens or to what the model allows, in
the library's batch form, which keeps [CLS] q [SEP] [SEP] for an empty passage.
"""

import argparse
import itertools
import json
import pathlib

import tokenizers
import torch
import transformers


def expand(text):
    """The string that a pair's text stands for."""
    if isinstance(text, dict):
        piece, count = text["repeat"]
        return piece * count
    return text


def load_tokenizer(folder, max_length):
    if (folder / "tokenizer.json").exists():
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    else:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length, strategy="longest_first", direction="right")
    return tokenizer


@torch.inference_mode()
def logits_of(model, encoding):
    output = model(
        input_ids=torch.tensor([encoding.ids]),
        token_type_ids=torch.tensor([encoding.type_ids]),
        attention_mask=torch.ones(1, len(encoding.ids), dtype=torch.long),
    )
    return output.logits[0].tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_folder", type=pathlib.Path)
    parser.add_argument("pairs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--first", type=int, help="only so many pairs from the start of PAIRS")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification.from_pretrained(
        arguments.model_folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    tokenizer = load_tokenizer(arguments.model_folder, min(512, model.config.max_position_embeddings))

    with arguments.pairs.open(encoding="utf-8") as pairs, arguments.out.open("w", encoding="utf-8") as out:
        for line in itertools.islice(pairs, arguments.first):
            pair = json.loads(line)
            encoding = tokenizer.encode_batch([(expand(pair["query"]), expand(pair["passage"]))])[0]
            logits = logits_of(model, encoding)
            golden = {"query": pair["query"], "passage": pair["passage"], "ids_len": len(encoding.ids)}
            golden |= {"logit": logits[0]} if len(logits) == 1 else {"logits": logits}
            out.write(json.dumps(golden, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
