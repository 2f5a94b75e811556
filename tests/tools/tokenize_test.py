"""crossbill tokenize: the tokens that Hugging Face's tokenizers give, and how they are shown."""

import json
import unittest

from command_line import BUNDLED, DATA, TINY, CommandLineTest, expand, json_lines, run


def concatenated(text):
    """Golden texts are strings, {"repeat": [string, count]} or {"concat": [text, …]}."""
    if isinstance(text, dict) and "concat" in text:
        return "".join(concatenated(part) for part in text["concat"])
    return expand(text)


class Tokenize(CommandLineTest):
    def test_agrees_with_hugging_face(self):
        with open(DATA / "tokenizer" / "texts.jsonl", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        # The bundled model's normaliser is the usual one; longer texts would be cut to its 512 tokens.
        records = [r for r in records if "norm" not in r and len(r["ids"]) <= 512][:300]
        self.assertGreater(len(records), 100)
        texts = json_lines({"text": concatenated(r["text"])} for r in records)
        lines = self.out("tokenize", "--json", "--model", BUNDLED, stdin=texts)
        for line, record in zip(lines, records, strict=True):
            self.assertEqual(json.loads(line)["ids"], record["ids"], record["id"])
            for field in ("tokens", "offsets"):
                if field in record:
                    self.assertEqual(json.loads(line)[field], record[field], record["id"])

    def test_json_has_just_these_fields(self):
        line = self.out("tokenize", "--json", "--model", BUNDLED, stdin='{"query": "a b", "passage": "c"}\n')[0]
        self.assertEqual(json.loads(line), {
            "ids": [101, 1037, 1038, 102, 1039, 102], "type_ids": [0, 0, 0, 0, 1, 1],
            "tokens": ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]"],
            "offsets": [[0, 0], [0, 1], [2, 3], [0, 0], [0, 1], [0, 0]], "truncated": False})
        self.assertEqual(list(json.loads(line)), ["ids", "type_ids", "tokens", "offsets", "truncated"])

    def test_shows_tokens_of_plain_lines(self):
        lines = self.out("tokenize", "--model", BUNDLED, stdin="unwanted naïveté\r\n\n  Hello\tWorld")
        self.assertEqual(lines, ["[CLS] unwanted naive ##te [SEP]", "[CLS] [SEP]", "[CLS] hello world [SEP]"])

    def test_reads_json_as_text_when_told(self):
        lines = self.out("tokenize", "--format", "text", "--model", BUNDLED, stdin="{}\n")
        self.assertEqual(lines, ["[CLS] { } [SEP]"])

    def test_special_tokens_can_be_read_as_text(self):
        arguments = ("tokenize", "--model", BUNDLED)
        self.assertEqual(self.out(*arguments, stdin="a[SEP]b"), ["[CLS] a [SEP] b [SEP]"])
        self.assertEqual(self.out(*arguments, "--special-tokens-as-text", stdin="a[SEP]b"),
                         ["[CLS] a [ sep ] b [SEP]"])

    def test_invalid_utf8_is_read_as_the_replacement_character(self):
        broken = self.out("tokenize", "--json", "--model", BUNDLED, stdin=b"a \xff\xe2\x82 b\n")
        whole = self.out("tokenize", "--json", "--model", BUNDLED, stdin="a \ufffd\ufffd b\n")
        self.assertEqual(broken, whole)

    def test_counts_what_was_cut(self):
        done = run("tokenize", "--max-length", 5, "--model", BUNDLED, stdin="a b c d e f\na\n")
        self.assertEqual(done.stdout.decode().splitlines(), ["[CLS] a b c [SEP]", "[CLS] a [SEP]"])
        self.assertEqual(done.stderr.decode(), "note: 1 of 2 lines were cut to 5 tokens\n")
        self.assertIn("error: <stdin>:1: ", self.fails(1, "tokenize", "--max-length", 5, "--truncate", "error",
                                                       "--model", BUNDLED, stdin="a b c d e f\n"))

    def test_bad_lines_are_named_or_skipped(self):
        content = '{"text": "a"}\n{"query": "a"}\n{"text": "b"}\n'
        self.assertIn('error: <stdin>:2: neither "text" nor "query" and "passage"; found "query"',
                      self.fails(1, "tokenize", "--model", TINY, stdin=content))
        self.assertEqual(len(self.stdout.splitlines()), 1)
        done = run("tokenize", "--json", "--skip-bad", "--model", TINY, stdin=content)
        self.assertEqual([json.loads(line) is None for line in done.stdout.splitlines()], [False, True, False])

    def test_cannot_write_to_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = run("tokenize", "--model", TINY, stdin="a\n", stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"can't write to standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
