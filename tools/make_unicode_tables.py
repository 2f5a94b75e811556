#!/usr/bin/env python3
"""Writes tokenizer/unicode_tables.inc from tests/data/tokenizer/unicode_properties.tsv.gz.

    make_unicode_tables.py           write the file
    make_unicode_tables.py --check   exit 1 if the file is not what would be written

The properties of a code point lie in a two-stage table: kBlockOfCodePoint[c / 128] names a block of kRecordInBlock,
which holds 128 indices into kRecords. Decompositions and lower-case forms, which few code points have, are
sorted lists to search. Only Python's standard library is needed.
"""

import gzip
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests/data/tokenizer/unicode_properties.tsv.gz"
OUT = ROOT / "tokenizer/unicode_tables.inc"
BLOCK = 128
FLAG_BITS = {"C": 1, "S": 2, "J": 4, "W": 8, "P": 16, "M": 32, "w": 64}
HAS_DECOMPOSITION, HAS_LOWER = 128, 256


def read_source():
    flags, ccc, nfd, lower, version = [0] * 0x110000, [0] * 0x110000, {}, {}, ""
    for line in gzip.decompress(SOURCE.read_bytes()).decode().splitlines():
        kind, *fields = line.split("\t")
        if kind == "version":
            version = fields[0]
        elif kind == "run":
            value = sum(FLAG_BITS[f] for f in fields[2] if f != "-")
            for c in range(int(fields[0], 16), int(fields[1], 16) + 1):
                flags[c], ccc[c] = value, int(fields[3])
        else:
            parts = [int(p, 16) for p in fields[1].split()]
            (nfd if kind == "nfd" else lower)[int(fields[0], 16)] = parts
    return version, flags, ccc, nfd, lower


def two_stages(values):
    blocks, index, numbers = [], [], {}
    for start in range(0, len(values), BLOCK):
        block = tuple(values[start:start + BLOCK])
        if block not in numbers:
            numbers[block] = len(blocks)
            blocks.append(block)
        index.append(numbers[block])
    return index, [v for block in blocks for v in block]


def lower_runs(lower):
    """(first, last, step, delta) for the single-character forms, and the pairs."""
    runs, pairs = [], []
    for c, parts in sorted(lower.items()):
        if len(parts) > 1:
            pairs.append((c, *parts))
            continue
        delta = parts[0] - c
        if runs and runs[-1][3] == delta:
            first, last, step, _ = runs[-1]
            if first == last and c - last in (1, 2):
                runs[-1] = (first, c, c - last, delta)
                continue
            if first != last and c - last == step:
                runs[-1] = (first, c, step, delta)
                continue
        runs.append((c, c, 1, delta))
    return runs, pairs


def array(kind, name, values):
    lines, line = [], "   "
    for v in values:
        text = f" {v},"
        if len(line) + len(text) > 108:
            lines.append(line)
            line = "   "
        line += text
    lines.append(line)
    return f"constexpr {kind} {name}[{len(values)}] = {{\n" + "\n".join(lines) + "\n};\n"


def braces(values):
    return "{" + ", ".join(str(v) for v in values) + "}"


def main():
    version, flags, ccc, nfd, lower = read_source()
    for c in nfd:
        flags[c] |= HAS_DECOMPOSITION
    for c in lower:
        flags[c] |= HAS_LOWER
    records, numbers, values = [], {}, []
    for record in zip(flags, ccc):
        if record not in numbers:
            numbers[record] = len(records)
            records.append(record)
        values.append(numbers[record])
    index, blocks = two_stages(values)
    if len(records) > 256 or max(index) > 255:
        raise SystemExit("the stages no longer fit bytes")
    offsets, parts = [], []
    for c, p in sorted(nfd.items()):
        offsets.append(len(parts))
        parts += p
    offsets.append(len(parts))
    runs, pairs = lower_runs(lower)
    text = ("// Made by tools/make_unicode_tables.py from tests/data/tokenizer/unicode_properties.tsv.gz; don't edit.\n"
            f"// Properties as the Hugging Face tokenizers library {version} has them. Included by one file only.\n")
    text += "// clang-format off\n"
    text += array("std::uint8_t", "kBlockOfCodePoint", index)
    text += array("std::uint8_t", "kRecordInBlock", blocks)
    text += array("CodePointProperties", "kRecords", [braces(r) for r in records])
    text += array("char32_t", "kDecomposed", sorted(nfd))
    text += array("std::uint16_t", "kPartsBegin", offsets)
    text += array("char32_t", "kParts", parts)
    text += array("LowerCaseRun", "kLowerCaseRuns", [braces(r) for r in runs])
    text += array("LowerCasePair", "kLowerCasePairs", [braces(p) for p in pairs])
    text += "// clang-format on\n"
    if "--check" in sys.argv[1:]:
        if not OUT.exists() or OUT.read_text() != text:
            raise SystemExit(f"{OUT} is not what {SOURCE.name} gives; run tools/make_unicode_tables.py")
        return
    OUT.write_text(text)
    size = len(index) + len(blocks) + 4 * len(records) + 4 * len(nfd) + 2 * len(offsets) + 4 * len(parts) + 16 * len(runs)
    print(f"{OUT}: about {size} bytes of tables, {len(records)} records, {len(blocks) // BLOCK} blocks, {len(runs)} runs")


if __name__ == "__main__":
    main()
