#!/usr/bin/env python3
"""Writes tests/data/tokenizer/settings.jsonl: seeded random texts under every normaliser setting and with added tokens
of every kind, as the Hugging Face `tokenizers` library encodes them. Needs `pip install tokenizers`.

One object a line: {"settings": {...}, "added_tokens": [...]} begins a tokenizer over tests/data/tokenizer/vocab.txt with
the BERT template; {"text", "as_text", "ids", "tokens", "offsets"} lines follow, "as_text" being encode_special_tokens.
The texts lean towards what is hard: marks to reorder, decompositions, control characters, pieces of special tokens.
"""

import json
import pathlib
import random
import unicodedata

from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tokenizer"
ALL = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
MARKS = [c for c in ALL if unicodedata.combining(chr(c))]
DECOMPOSED = [c for c in ALL if unicodedata.decomposition(chr(c)) and "<" not in unicodedata.decomposition(chr(c))]
ODD = [0, 9, 0xB, 0xC, 0x1C, 0x85, 0xA0, 0xAD, 0x130, 0x200B, 0x200D, 0x3000, 0xFFFD, 0xE000, 0x34F, 0x344, 0xF73, 0xF75,
       0x302E, 0x8D4, 0x1DF6, 0x1D165, 0x1E9E, 0xAC00, 0xAC01, 0xF900, 0x2B820, 0x2B920, 0x2F800]
BUILT_IN = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CONTENTS = ["[X]", "[XY]", " x", "x ", "ab", "a b", "é", "的", "Abc", "[", "[[", "[MASK]]", "\ufffd", "_", "ﬁ", "\t", "가"]


def random_part(rng, contents):
    kind = rng.randrange(10)
    if kind < 3:
        return rng.choice("abcdefgxyzABCXYZ")
    if kind < 4:
        return rng.choice(" \t\n\u00a0")
    if kind < 5:
        return chr(rng.choice(MARKS))
    if kind < 6:
        return chr(rng.choice(DECOMPOSED))
    if kind < 7:
        return chr(rng.choice(ODD))
    if kind < 8:
        return chr(rng.choice(ALL))
    return rng.choice(BUILT_IN + contents + ["[", "SEP]", "[mask]", "_"])


def make_tokenizer(rng, vocabulary, plain):
    norm = dict(clean_text=rng.random() < .6, handle_chinese_chars=rng.random() < .6,
                strip_accents=rng.choice([True, False, None]), lowercase=rng.random() < .6)
    tokenizer = Tokenizer(models.WordPiece(dict(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**norm)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    tokens = [dict(content=c, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
              for c in BUILT_IN]
    for content in [] if plain else rng.sample(CONTENTS, rng.randrange(1, 6)):
        flags = {flag: rng.random() < .3 for flag in ("single_word", "lstrip", "rstrip")}
        tokens.append(dict(content=content, **flags, normalized=rng.random() < .4, special=rng.random() < .5))
    kept = []
    for token in tokens:
        # Where a token normalises to nothing, or to what another one is, the library's answer is an accident.
        form = tokenizer.normalizer.normalize_str(token["content"]) if token["normalized"] else token["content"]
        if form and form not in [k["form"] for k in kept if k["normalized"] == token["normalized"]]:
            kept.append({**token, "form": form})
    for token in kept:
        del token["form"]
        added = AddedToken(**token)
        (tokenizer.add_special_tokens if token["special"] else tokenizer.add_tokens)([added])
        token["id"] = tokenizer.token_to_id(token["content"])
    return tokenizer, norm, kept


def main():
    rng = random.Random(23)
    vocabulary = {t: i for i, t in enumerate((DATA / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1])}
    lines = []
    for round_number in range(40):
        tokenizer, norm, tokens = make_tokenizer(rng, vocabulary, plain=round_number % 2 == 0)
        lines.append(dict(settings=norm, added_tokens=tokens))
        contents = [t["content"] for t in tokens]
        for _ in range(30):
            text = "".join(random_part(rng, contents) for _ in range(rng.randrange(1, 16)))
            tokenizer.encode_special_tokens = rng.random() < .3
            e = tokenizer.encode(text)
            lines.append(dict(text=text, as_text=tokenizer.encode_special_tokens, ids=e.ids, tokens=e.tokens,
                              offsets=[list(o) for o in e.offsets]))
    (DATA / "settings.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


if __name__ == "__main__":
    main()
