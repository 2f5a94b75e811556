#!/usr/bin/env python3
"""Turn a model folder's pytorch_model.bin, or its .onnx file, into the model.safetensors that Crossbill reads.

    python3 tools/convert_to_safetensors.py FOLDER

FOLDER is a Hugging Face folder of a BertForSequenceClassification with config.json and tokenizer files beside the
weights. model.safetensors is written into it; nothing else is touched, and an existing one is never overwritten.

Needs the packages torch and safetensors (pip install torch safetensors).

pytorch_model.bin, sharded or not, is read with weights_only=True, so that no code in it can run. Tensors keep their
type and their names. If there is none, model.onnx is taken, from FOLDER or FOLDER/onnx: an export in float32 or
float16 of the plain graph, as torch.onnx.export or `optimum-cli export onnx` write it, with the weights in the file
itself. An optimised or quantised graph has lost the weights that Crossbill needs, and is refused: convert from the
original instead.
"""

import argparse
import json
import pathlib
import sys

ONNX_TYPES = {1: "float32", 10: "float16", 16: "bfloat16"}


def load_torch(folder):
    """All tensors of pytorch_model.bin or of the shards that its index names."""
    import torch

    index = folder / "pytorch_model.bin.index.json"
    if (folder / "pytorch_model.bin").exists():
        names = ["pytorch_model.bin"]
    elif index.exists():
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    else:
        return None
    tensors = {}
    for name in names:
        state = torch.load(folder / name, map_location="cpu", weights_only=True)
        tensors |= {key: value for key, value in state.items() if isinstance(value, torch.Tensor)}
    return tensors


# ONNX files are Protocol Buffers messages. Only the few fields needed here are read, so no onnx package is needed.


def varint(data, at):
    """(number, place behind it)"""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(message):
    """(field number, value) of a message; value is a number, or a memoryview for strings, messages and packed lists."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(message, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(wire)
        if size is None:
            size, at = varint(message, at)
        yield key >> 3, message[at : at + size]
        at += size


def numbers(value):
    """A repeated number comes one by one or as a packed list."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        out.append(number)
    return out


def read_initializer(message):
    """(name, tensor) of a TensorProto, tensor None if it isn't of a floating-point type or lies in another file."""
    import torch

    shape, kind, name, raw = [], 0, "", None
    for number, value in fields(message):
        if number == 1:
            shape += numbers(value)
        elif number == 2:
            kind = value
        elif number == 8:
            name = bytes(value).decode()
        elif number == 9 or (number == 4 and kind == 1):
            raw = value
    if kind not in ONNX_TYPES or raw is None:
        return name, None
    return name, torch.frombuffer(bytearray(raw), dtype=getattr(torch, ONNX_TYPES[kind])).reshape(shape)


def read_node(message):
    names = {1: [], 2: []}  # inputs, outputs
    op = ""
    for number, value in fields(message):
        if number in names:
            names[number].append(bytes(value).decode())
        elif number == 4:
            op = bytes(value).decode()
    return op, names[1], names[2]


def read_graph(data):
    graph = next((value for number, value in fields(data) if number == 7), None)
    if graph is None:
        sys.exit("the .onnx file holds no graph")
    tensors, nodes = {}, []
    for number, value in fields(graph):
        if number == 5:
            name, tensor = read_initializer(value)
            if tensor is not None:
                tensors[name] = tensor
        elif number == 1:
            nodes.append(read_node(value))
    return tensors, nodes


def load_onnx(folder):
    """Named weights of a plain export.

    Exporters transpose the matrix of a linear layer and rename it, but its bias, which is added to the product right
    after, keeps its name and so tells whose it is. Of equal tensors only one may be kept; an Identity node names the
    others.
    """
    path = next((p for p in (folder / "model.onnx", folder / "onnx" / "model.onnx") if p.exists()), None)
    if path is None:
        return None
    tensors, nodes = read_graph(memoryview(path.read_bytes()))
    for op, inputs, outputs in nodes:
        if op == "Identity" and inputs[0] in tensors:
            tensors[outputs[0]] = tensors[inputs[0]]
    named = {name: t for name, t in tensors.items() if name.endswith((".weight", ".bias", ".gamma", ".beta"))}
    products = {outputs[0]: inputs[1] for op, inputs, outputs in nodes if op == "MatMul" and inputs[1] in tensors}
    for op, inputs, _ in nodes:
        bias = next((name for name in inputs if name.endswith(".bias") and name in tensors), None)
        product = next((name for name in inputs if name in products), None)
        if op == "Add" and bias and product:
            named[bias.removesuffix("bias") + "weight"] = tensors[products[product]].t()
    lost = [n for n in named if n.endswith(".bias") and "LayerNorm" not in n and n.removesuffix("bias") + "weight" not in named]
    if lost or not named:
        sys.exit(f"{path} is an optimised or quantised graph, whose weights can't be told apart; convert from the original")
    return named


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    out = folder / "model.safetensors"
    if out.exists():
        sys.exit(f"{out} is there already")
    tensors = load_torch(folder) or load_onnx(folder)
    if not tensors:
        sys.exit(f"{folder} has neither pytorch_model.bin nor model.onnx")

    import safetensors.torch

    # Tied or sliced tensors share memory, which safetensors doesn't store: each gets its own.
    tensors = {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
    unfinished = out.with_suffix(".unfinished")
    safetensors.torch.save_file(tensors, unfinished, metadata={"format": "pt"})
    unfinished.replace(out)
    print(f"wrote {out} with {len(tensors)} tensors")


if __name__ == "__main__":
    main()
