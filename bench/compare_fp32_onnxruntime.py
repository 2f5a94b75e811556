#!/usr/bin/env python3
"""Times the fp32 pass against ONNX Runtime fp32 on one thread: the same model and lengths, in turns.

    python bench/compare_fp32_onnxruntime.py MODEL_FOLDER build/release/bench/fp32_pass_bench

Needs torch, transformers, onnx and onnxruntime. ONNX Runtime gets its best: pairs sorted by length, the plain export or
the one through its transformer optimiser, and the batch size that a first look finds fastest. Both sides are timed in
CPU seconds, since each runs on one thread. Read the ratio; it is the median over the rounds.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime
import torch
from onnxruntime.transformers import optimizer
from transformers import BertForSequenceClassification

DECILES = [24, 56, 66, 73, 80, 86, 96, 108, 122, 148, 286]  # as in fp32_pass_bench.cpp
SETS = {
    "mixed": [DECILES[i] + (DECILES[i + 1] - DECILES[i]) * step // 11 for i in range(10) for step in range(11)],
    **{f"tokens:{length}": [length] * (2048 // length) for length in [16, 64, 128, 512]},
}
BATCHES = [1, 4, 8, 16]


def export(model, folder):
    """Writes the two ONNX files and returns their paths."""
    bert = BertForSequenceClassification.from_pretrained(model, dtype=torch.float32, attn_implementation="eager").eval()

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.bert(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).logits

    names = ["input_ids", "attention_mask", "token_type_ids"]
    ids = torch.randint(1000, 20000, (2, 16))
    mask = torch.ones_like(ids)
    mask[1, 10:] = 0
    axes = {0: "batch", 1: "length"}
    plain, fused = folder / "plain.onnx", folder / "fused.onnx"
    torch.onnx.export(
        Logits(),
        (ids, mask, torch.zeros_like(ids)),
        str(plain),
        input_names=names,
        output_names=["logits"],
        opset_version=17,
        dynamic_axes={**{n: axes for n in names}, "logits": {0: "batch"}},
        dynamo=False,
    )
    optimizer.optimize_model(
        str(plain),
        model_type="bert",
        opt_level=0,
        num_heads=bert.config.num_attention_heads,
        hidden_size=bert.config.hidden_size,
    ).save_model_to_file(str(fused))
    return [plain, fused]


class OnnxRuntime:
    def __init__(self, path):
        self.name = path.stem
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def batches(self, lengths, size):
        generator = np.random.default_rng(1)
        lengths = sorted(lengths, reverse=True)
        for first in range(0, len(lengths), size):
            batch = lengths[first : first + size]
            mask = np.array([[1] * length + [0] * (batch[0] - length) for length in batch], dtype=np.int64)
            ids = generator.integers(1000, 20000, mask.shape) * mask
            types = np.zeros_like(mask)
            types[:, 10:] = mask[:, 10:]
            yield {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}

    def seconds(self, batches):
        """CPU seconds of one pass over the list, the best of as many as fit a second."""
        best, end = float("inf"), time.process_time() + 1
        while best == float("inf") or time.process_time() < end:
            begin = time.process_time()
            for batch in batches:
                self.session.run(None, batch)
            best = min(best, time.process_time() - begin)
        return best


def crossbill_seconds(bench, model, isa, what):
    output = subprocess.run(
        [bench, f"--benchmark_filter=^fp32/{isa}/{what}$", "--benchmark_format=json", "--benchmark_repetitions=3"],
        env={**os.environ, "CROSSBILL_BENCH_MODEL": str(model)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    runs = [b for b in json.loads(output)["benchmarks"] if b["run_type"] == "iteration"]
    return min(b["cpu_time"] for b in runs) / 1e3  # the benchmark's unit is milliseconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("--isa", default="avx2,avx512", help="kernel sets of ours, by comma")
    parser.add_argument("--sets", default=",".join(SETS), help="of " + ", ".join(SETS))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        sessions = [OnnxRuntime(path) for path in export(arguments.model, pathlib.Path(folder))]
        for what in arguments.sets.split(","):
            lengths = SETS[what]
            tuned = []
            for session in sessions:
                for size in BATCHES:
                    batches = list(session.batches(lengths, size))
                    tuned.append((session.seconds(batches), size, session, batches))
            _, size, session, batches = min(tuned, key=lambda entry: entry[0])
            for isa in arguments.isa.split(","):
                ours, theirs = [], []
                for _ in range(arguments.rounds):
                    ours.append(crossbill_seconds(arguments.bench, arguments.model, isa, what))
                    theirs.append(session.seconds(batches))
                ratio = statistics.median(t / o for o, t in zip(ours, theirs))
                print(
                    f"{what:11} {isa:7} {len(lengths) / statistics.median(ours):7.1f} pairs/s   ONNX Runtime "
                    f"({session.name}, batch {size}) {len(lengths) / statistics.median(theirs):7.1f} pairs/s   "
                    f"{ratio:.2f} times as fast",
                    flush=True,
                )


if __name__ == "__main__":
    main()
