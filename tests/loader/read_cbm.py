#!/usr/bin/env python3
"""A .cbm reader written from docs/format.md and docs/vocabulary_block.md alone, to prove that the pages say enough.

    read_cbm.py FILE [--against CBM_DUMP]

Prints one line per tensor with the SHA-256 of its values as f32, and lines about configuration and vocabulary. With
--against it runs the given program, the C++ reader's dump of the same file, and fails unless both say the same.
Standard library only.
"""

import argparse
import array
import hashlib
import json
import struct
import subprocess
import sys

MASK = (1 << 64) - 1
BYTES, F32, F16, S8, S32, S8_PANELS = range(6)


def padded(n, multiple):
    return -(-n // multiple) * multiple


def check(condition, message):
    if not condition:
        sys.exit("read_cbm.py: " + message)


def mix(state, word):
    state ^= word
    return (((state << 29) & MASK) | state >> 35) * 0x9E3779B97F4A7C15 & MASK


def checksum(data):
    words = struct.unpack(f"<{padded(len(data), 64) // 8}Q", data + bytes(padded(len(data), 64) - len(data)))
    total = len(data)
    for lane in range(8):
        state = lane + 1
        for word in words[lane::8]:
            state = mix(state, word)
        total = mix(total, state)
    return total ^ total >> 32


class Cbm:
    """Sections by name, after every check that the page asks for."""

    def __init__(self, data):
        magic, version, count, size, table_sum = struct.unpack_from("<8sIIQQ", data)
        check(magic == b"\x89CBM\r\n\x1a\n" and version == 0, "not a .cbm file of version 0")
        check(size == len(data) and not any(data[32:64]), "wrong header")
        check(checksum(data[64 : 64 + 128 * count]) == table_sum, "wrong table checksum")
        self.data, self.sections = data, {}
        end = 64 + 128 * count
        for i in range(count):
            entry = struct.unpack_from("<64sIIQQQQQ16s", data, 64 + 128 * i)
            name = entry[0].rstrip(b"\0").decode("ascii")
            kind, rank, rows, cols, offset, size, stored_sum, reserved = entry[1:]
            check(offset == padded(end, 64) and not any(data[end:offset]), f"{name}: wrong place")
            check(size == self.size_of(kind, rows, cols) and not any(reserved), f"{name}: wrong entry")
            check(checksum(data[offset : offset + size]) == stored_sum, f"{name}: wrong checksum")
            check(name not in self.sections, f"{name}: twice")
            self.sections[name] = (kind, (rows, cols)[:rank], data[offset : offset + size])
            end = offset + size
        check(padded(end, 64) == len(data) and not any(data[end:]), "bytes after the last section")

    @staticmethod
    def size_of(kind, rows, cols):
        if kind == S8_PANELS:
            return padded(rows, 16) * padded(cols, 64)
        return {BYTES: 1, F32: 4, F16: 2, S8: 1, S32: 4}[kind] * rows * cols

    def values(self, name, shape):
        """An s32, f32 or f16 section of this shape as a list of Python numbers."""
        kind, found, data = self.sections[name]
        check(found == shape, f"{name}: shape {found}, expected {shape}")
        return struct.unpack(f"<{len(data) // (2 if kind == F16 else 4)}{ {F32: 'f', F16: 'e', S32: 'i'}[kind] }", data)

    def quantised_rows(self, name, shape):
        """Rows of signed numbers of an s8 or s8 panel section."""
        kind, found, data = self.sections[name]
        check(found == shape, f"{name}: shape {found}, expected {shape}")
        rows, cols = shape
        for row in range(rows):
            if kind == S8:
                packed = data[row * cols : (row + 1) * cols]
            else:
                panel = row // 16 * 16 * padded(cols, 64)
                packed = bytearray(padded(cols, 64))
                for i in range(4):
                    start = panel + row % 16 * 4 + i
                    packed[i::4] = data[start : panel + 16 * padded(cols, 64) : 64]
                check(not any(packed[cols:]), f"{name}: padding is not zero")
                packed = bytes(packed[:cols])
            yield array.array("b", packed)

    def matrix(self, name, shape):
        """Rows as f32 bytes."""
        kind = self.sections[name][0]
        if kind in (F32, F16):
            values = self.values(name, shape)
            return struct.pack(f"<{len(values)}f", *values)
        scales = self.values(name + ".scales", shape[:1])
        sums = self.values(name + ".column_sums", (padded(shape[0], 16),)) if kind == S8_PANELS else None
        out = []
        for row, (scale, q) in enumerate(zip(scales, self.quantised_rows(name, shape))):
            if sums is not None:
                check(sum(q) == sums[row], f"{name}: wrong column sum")
                check(min(q) >= -127 and all(abs(a + b) <= 128 for a, b in zip(q[0::2], q[1::2])), f"{name}: pair bound")
            # Python's product is exact (24 + 8 bits), so packing rounds once, as the page says.
            out.append(struct.pack(f"<{len(q)}f", *[scale * value for value in q]))
        return b"".join(out)


class Vocabulary:
    def __init__(self, block):
        magic, size, self.seed, ids, tokens, slots, _, text_bytes = struct.unpack_from("<8sQQIIIII", block)
        check(magic == b"CBVOCAB1" and size == len(block), "vocabulary: wrong header")
        offsets_at = 64 + 16 * slots
        self.offsets = struct.unpack_from(f"<{ids + 1}I", block, offsets_at)
        text_at = offsets_at + 4 * (ids + 1)
        self.text = block[text_at : text_at + text_bytes]
        self.slots = [struct.unpack_from("<QII", block, 64 + 16 * i) for i in range(slots)]
        self.shift = 64 - (slots.bit_length() - 1)
        check(sum(self.token(i) is not None for i in range(ids)) == tokens, "vocabulary: wrong number of tokens")

    def token(self, index):
        begin, end = self.offsets[index], self.offsets[index + 1]
        return None if begin >> 31 else self.text[begin & 0x7FFFFFFF : end & 0x7FFFFFFF]

    def find(self, token):
        words = struct.unpack(f"<{padded(len(token), 8) // 8}Q", token + bytes(padded(len(token), 8) - len(token)))
        state = self.seed
        for word in words:
            product = (state ^ word) * 0x9FB21C651E98DF25 & MASK
            state = product ^ product >> 32
        slot = ((state ^ len(token)) * 0xD6E8FEB86659FD93 & MASK) >> self.shift
        for _ in range(129):
            head, length, index = self.slots[slot]
            if index == 0xFFFFFFFF:
                return None
            if length == len(token) and head == (words[0] if words else 0) and self.token(index) == token:
                return index
            slot = (slot + 1) % len(self.slots)
        return None


def tensors(cbm, config):
    """Names, and shapes, of everything that a model has."""
    h, f = config["hidden_size"], config["intermediate_size"]
    yield "embeddings.word", (config["vocab_size"], h)
    yield "embeddings.position", (config["max_position_embeddings"], h)
    yield "embeddings.token_type", (config["type_vocab_size"], h)
    norms = ["embeddings.norm"]
    linear = []
    for i in range(config["num_hidden_layers"]):
        name = f"layer.{i}."
        linear += [(name + part, h, h) for part in ("query", "key", "value", "attention_output")]
        linear += [(name + "intermediate", f, h), (name + "output", h, f)]
        norms += [name + "attention_norm", name + "output_norm"]
    linear += [("pooler", h, h), ("classifier", config["num_labels"], h)]
    for name, rows, cols in linear:
        yield name + ".weight", (rows, cols)
        yield name + ".bias", (rows,)
    for name in norms:
        yield name + ".gamma", (h,)
        yield name + ".beta", (h,)


def describe(data):
    cbm = Cbm(data)
    metadata = json.loads(cbm.sections["metadata"][2])
    config = metadata["config"]
    lines = [
        f"weights {metadata['weights']}",
        f"source {metadata['source_sha256']}",
        f"heads {config['num_attention_heads']}",
        f"labels {','.join(config['id2label'][str(i)] for i in range(config['num_labels']))}",
        f"cls {metadata['tokenizer']['cls_id']} sep {metadata['tokenizer']['sep_id']}",
    ]
    vocabulary = Vocabulary(cbm.sections["vocabulary"][2])
    listed = hashlib.sha256()
    for index in range(len(vocabulary.offsets) - 1):
        token = vocabulary.token(index)
        check(token is None or vocabulary.find(token) == index, f"token {index} is not found")
        listed.update((token or b"") + b"\n")
    check(vocabulary.find(b"no such token") is None, "a token that is not there was found")
    lines.append(f"vocabulary {len(vocabulary.offsets) - 1} {listed.hexdigest()}")
    for name, shape in tensors(cbm, config):
        lines.append(f"{name} {hashlib.sha256(cbm.matrix(name, shape)).hexdigest()}")
    return sorted(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--against", metavar="CBM_DUMP")
    arguments = parser.parse_args()
    with open(arguments.file, "rb") as file:
        lines = describe(file.read())
    if not arguments.against:
        print("\n".join(lines))
        return
    dump = subprocess.run([arguments.against, arguments.file], check=True, capture_output=True, text=True)
    other = sorted(dump.stdout.splitlines())
    for line in sorted(set(lines) ^ set(other)):
        print("only here: " if line in lines else "only in the dump: ", line)
    check(lines == other, "the two readers differ")
    print(f"{len(lines)} lines agree")


if __name__ == "__main__":
    main()
