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
        self.assertEqual(done.stderr.decode(), "note: 1 of 2 lines was cut to 5 tokens\n")
        self.assertIn("error: <stdin>:1: ", self.fails(1, "tokenize", "--max-length", 5, "--truncate", "error",
                                                       "--model", BUNDLED, stdin="a b c d e f\n"))

    def test_bad_lines_are_named_or_skipped(self):
        content = '{"text": "a"}\n{"query": "a"}\n{"text": "b"}\n'
        self.assertIn('error: <stdin>:2: neither "text" nor "query" and "passage"; found "query"',
                      self.fails(1, "tokenize", "--model", TINY, stdin=content))
        self.assertEqual(len(self.stdout.splitlines()), 1)
        done = run("tokenize", "--json", "--skip-bad", "--model", TINY, stdin=content)
        self.assertEqual([json.loads(line) is None for line in done.stdout.splitlines()], [False, True, False])

    def test_gives_the_same_lines_in_the_same_order_on_any_number_of_threads(self):
        # More lines than several windows hold, of uneven length, with bad ones in between.
        lines = []
        for i in range(5000):
            record = {"text": f"line {i} of many, " + "naïve " * (i * 37 % 101)}
            lines.append("no JSON\n" if i % 997 == 996 else json_lines([record]))
        texts = self.write("texts.jsonl", "".join(lines))
        runs = [run("tokenize", "--json", "--skip-bad", "--max-length", 64, "--threads", threads, "--model", BUNDLED,
                    texts) for threads in (1, 2, 7, 0)]
        self.assertEqual(runs[0].returncode, 0)
        for i, line in enumerate(runs[0].stdout.splitlines()):
            tokens = json.loads(line)
            self.assertEqual(tokens is None, i % 997 == 996, i)
            if tokens:
                self.assertTrue("".join(tokens["tokens"]).replace("##", "").startswith(f"[CLS]line{i}ofmany,"), i)
        self.assertEqual(i + 1, len(lines))
        for other in runs[1:]:
            self.assertEqual((other.returncode, other.stdout, other.stderr), (0, runs[0].stdout, runs[0].stderr))

    def test_tells_what_was_cut_and_skipped_before_a_run_that_fails(self):
        texts = '{"text": "a b c d"}\n{"text": "a"}\n{"texts": "a"}\n{"text": "a b c d"}\n'
        said = self.fails(1, "tokenize", "--max-length", 5, "--model", BUNDLED, stdin=texts)
        self.assertEqual(self.stdout, "[CLS] a b c [SEP]\n[CLS] a [SEP]\n")
        self.assertRegex(said, r"^note: 1 of 2 lines was cut to 5 tokens\nerror: <stdin>:3: .*\n$")
        broken = self.write("broken.gz", texts, compress=True)
        broken.write_bytes(broken.read_bytes()[:-4])
        said = self.fails(1, "tokenize", "--max-length", 5, "--skip-bad", "--model", BUNDLED, broken)
        self.assertEqual(said.splitlines()[0], "note: 2 of 3 lines were cut to 5 tokens")
        self.assertIn(f"note: 1 of 4 lines was bad and skipped; the first: {broken}:3: ", said)
        self.assertIn(f"error: {broken}: the gzip data is cut short", said)

    def test_that_refuses_to_cut_stops_at_the_first_line_too_long(self):
        texts = "a b\n" * 40 + "a b c d e f\n" + "a b\n" * 40 + "a b c d e f\n"
        arguments = ("tokenize", "--max-length", 5, "--truncate", "error", "--threads", 4, "--model", BUNDLED)
        self.assertIn("error: <stdin>:41: ", self.fails(1, *arguments, stdin=texts))
        self.assertEqual(self.stdout, "[CLS] a b [SEP]\n" * 40)
        done = run(*arguments, "--skip-bad", stdin=texts)
        self.assertEqual(done.stdout.decode(), ("[CLS] a b [SEP]\n" * 40 + "\n") * 2)
        self.assertIn("note: 2 of 82 lines were bad and skipped; the first: <stdin>:41: ", done.stderr.decode())

    def test_cannot_write_to_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = run("tokenize", "--model", TINY, stdin="a\n", stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"can't write to standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
