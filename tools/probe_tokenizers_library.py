#!/usr/bin/env python3
"""Writes tests/data/tokenizer/unicode_properties.tsv.gz: what the Hugging Face `tokenizers` library knows of Unicode.

Every code point is put through the library's own normalisers and splitters, one property at a time, so that the
tables of tokenizer/unicode_tables.inc (made from this file by make_unicode_tables.py) are right for every
setting, not only for the default one that the golden files cover. Needs `pip install tokenizers`; about a minute.

Line kinds, TAB separated, code points in hex:
  version  LIBRARY-VERSION
  run      FIRST  LAST  FLAGS  CCC    each code point once; FLAGS is "-" or a string of
             C  removed by clean_text          S  turned into a space by clean_text
             J  spaced out as a CJK character  W  white space to the pre-tokeniser
             P  punctuation                    M  nonspacing mark, removed by strip_accents
             w  a word character (\\w) to single_word added tokens
           CCC is the canonical combining class
  nfd      CODE-POINT  PARTS          canonical decomposition, Hangul syllables left out (they follow a formula)
  lower    CODE-POINT  PARTS          lower case
"""

import gzip
import pathlib
import unicodedata

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokenizer/unicode_properties.tsv.gz"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)


def bert(**on):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **on}).normalize_str


def reference_marks(nfd):
    """One mark per combining class, the oldest there is. The library is older than Python's own tables: a mark
    that it doesn't move before U+0345 (class 240, the highest) has no class there."""
    marks = {}
    for combining in (unicodedata.ucd_3_2_0.combining, unicodedata.combining):
        for c in CODE_POINTS:
            ccc = combining(chr(c))
            if ccc and ccc not in marks and not unicodedata.decomposition(chr(c)):
                if ccc == 240 or nfd("\u0345" + chr(c)) == chr(c) + "\u0345":
                    marks[ccc] = chr(c)
    return sorted(marks.items())


def combining_class(char, marks, nfd):
    """Canonical ordering itself tells the class: a mark changes places with every higher one before it."""
    low, high = marks[0][1], marks[-1][1]
    if nfd(high + char) == high + char and nfd(char + low) == char + low:
        return 0
    for ccc, mark in marks:
        if nfd(mark + char) == mark + char and nfd(char + mark) == char + mark:
            return ccc
    raise SystemExit(f"no reference mark has the class of U+{ord(char):04X}")


def word_characters():
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.add_special_tokens([AddedToken("[M]", single_word=True, normalized=False)])
    token = tokenizer.token_to_id("[M]")
    found = set()
    for c in CODE_POINTS:
        if token not in tokenizer.encode(chr(c) + "[M]").ids:
            found.add(c)
    return found


def main():
    clean, cjk = bert(clean_text=True), bert(handle_chinese_chars=True)
    strip, lower = bert(strip_accents=True), bert(lowercase=True)
    nfd = normalizers.NFD().normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    marks, words = reference_marks(nfd), word_characters()
    runs, nfd_lines, lower_lines = [], [], []
    for c in CODE_POINTS:
        char, flags = chr(c), ""
        cleaned = clean(char)
        flags += "C" if cleaned == "" else "S" if cleaned == " " else ""
        flags += "J" if cjk(char) == f" {char} " else ""
        pieces = len(split(f"a{char}b"))
        flags += "W" if pieces == 2 else "P" if pieces == 3 else ""
        parts = nfd(char)
        flags += "M" if parts == char and strip(char) == "" else ""
        flags += "w" if c in words else ""
        if parts != char and c not in HANGUL:
            nfd_lines.append((c, parts))
        if lower(char) != char:
            lower_lines.append((c, lower(char)))
        ccc = combining_class(char, marks, nfd) if parts == char else 0
        value = (flags or "-", ccc)
        if runs and runs[-1][2] == value and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c, value])
    lines = [f"version\t{tokenizers.__version__}"]
    lines += [f"run\t{a:04X}\t{b:04X}\t{flags}\t{ccc}" for a, b, (flags, ccc) in runs]
    for kind, entries in (("nfd", nfd_lines), ("lower", lower_lines)):
        lines += [f"{kind}\t{c:04X}\t" + " ".join(f"{ord(p):04X}" for p in parts) for c, parts in entries]
    OUT.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    print(f"{OUT}: {len(runs)} runs, {len(nfd_lines)} decompositions, {len(lower_lines)} lower-case mappings")


if __name__ == "__main__":
    main()
