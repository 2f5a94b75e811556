#!/usr/bin/env python3
"""Writes tests/data/tokenizer/invalid_utf8.tsv: how Python reads byte strings that may not be UTF-8.

    three  LEAD  CRC        all 65,536 strings LEAD b2 b3: CRC-32 of every decoded string, each followed by a line feed
    four   LEAD  CRC        strings LEAD b2 b3 b4, each b one of EDGES in all combinations
    text   HEX   HEX        one string and what it is read as, in UTF-8
"""

import pathlib
import random
import zlib

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokenizer/invalid_utf8.tsv"
EDGES = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF]


def read(data):
    return data.decode("utf-8", errors="replace").encode()


def crc(strings):
    value = 0
    for data in strings:
        value = zlib.crc32(read(data) + b"\n", value)
    return f"{value:08X}"


def random_string(rng):
    """Pieces of valid characters, so that broken ones of every length and kind occur."""
    data = b""
    for _ in range(rng.randrange(1, 12)):
        char = chr(rng.choice([rng.randrange(0x80), rng.randrange(0x80, 0x800), rng.randrange(0x800, 0xD800),
                               rng.randrange(0x10000, 0x110000)])).encode()
        data += rng.choice([char, char[:rng.randrange(1, 5)], char[1:], bytes([rng.randrange(256)])])
    return data


def main():
    rng = random.Random(20)
    byte = [bytes([b]) for b in range(256)]
    edges = [bytes([b]) for b in EDGES]
    lines = []
    for lead in byte:
        lines.append(f"three\t{lead.hex()}\t" + crc(lead + b + c for b in byte for c in byte))
    for lead in byte[0xC0:]:
        lines.append(f"four\t{lead.hex()}\t" + crc(lead + b + c + d for b in edges for c in edges for d in edges))
    for _ in range(300):
        data = random_string(rng)
        lines.append(f"text\t{data.hex()}\t{read(data).hex()}")
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
