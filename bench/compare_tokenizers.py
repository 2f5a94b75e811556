#!/usr/bin/env python3
"""Our tokenizer against the Hugging Face `tokenizers` library, one thread each, interleaved, on the same passages.

    CROSSBILL_DATA=... bench/compare_tokenizers.py build/release/bench/tokenizer_bench [--rounds 7]

Needs `pip install tokenizers`. The library encodes with encode_batch_fast (no offsets). Times are CPU times,
so that other load on the machine matters less; printed are medians over the rounds and their ratio.
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers  # noqa: E402  (the variables above must be set before)
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: E402

VOCABULARY = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokenizer/vocab.txt"


def library_tokenizer():
    vocabulary = {t: i for i, t in enumerate(VOCABULARY.read_text(encoding="utf-8").split("\n")[:-1])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.enable_truncation(512)
    return tokenizer


def library_seconds(tokenizer, inputs):
    begin = time.process_time()
    encodings = tokenizer.encode_batch_fast(inputs)
    seconds = time.process_time() - begin
    assert len(encodings) == len(inputs)
    return seconds


def our_seconds(program, name):
    output = subprocess.run([program, f"--benchmark_filter=^{name}$", "--benchmark_format=json"], check=True,
                            capture_output=True, text=True).stdout
    return json.loads(output)["benchmarks"][0]["cpu_time"] / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the tokenizer_bench program, release build")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    path = pathlib.Path(os.environ["CROSSBILL_DATA"]) / "pairs/dl20_bm25_top100.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        pairs = [(line["query"], line["passage"]) for line in map(json.loads, lines)]
    passages = [passage for _, passage in pairs]
    tokenizer = library_tokenizer()
    cases = {"passages": passages, "encoded_pairs": pairs}
    bytes_of = {"passages": sum(len(p.encode()) for p in passages),
                "encoded_pairs": sum(len(q.encode()) + len(p.encode()) for q, p in pairs)}
    library_seconds(tokenizer, passages)  # fills the library's caches
    theirs, ours = {name: [] for name in cases}, {name: [] for name in cases}
    for _ in range(arguments.rounds):
        for name, inputs in cases.items():
            theirs[name].append(library_seconds(tokenizer, inputs))
            ours[name].append(our_seconds(arguments.program, name))
    print(f"tokenizers {tokenizers.__version__}, {len(pairs)} pairs of {path.name}, one thread, "
          f"medians of {arguments.rounds} interleaved rounds")
    for name in cases:
        their, our = statistics.median(theirs[name]), statistics.median(ours[name])
        print(f"{name:14}  library {their * 1e3:8.1f} ms ({bytes_of[name] / their / 1e6:6.1f} MB/s)   "
              f"crossbill {our * 1e3:8.2f} ms ({bytes_of[name] / our / 1e6:6.1f} MB/s)   ratio {their / our:5.1f}")


if __name__ == "__main__":
    main()
