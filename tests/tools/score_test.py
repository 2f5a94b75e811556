"""crossbill score: what goes in, what comes out, what is refused."""

import json
import struct
import subprocess
import unittest

from command_line import BUNDLED, PROGRAM, TINY, TINY_LABELS, CommandLineTest, golden, json_lines, run

GOLDEN = golden("tiny/one-label.golden.jsonl")
# The tiny model takes 61 tokens; those are the pairs that were not cut.
WHOLE = [record for record in GOLDEN if record["ids_len"] < 61]
PAIRS = [{"query": record["query"], "passage": record["passage"]} for record in WHOLE]
LOGITS = [record["logit"] for record in WHOLE]


def as_tsv(pairs):
    return "".join(f"{p['query']}\t{p['passage']}\n" for p in pairs)


class Scores(CommandLineTest):
    def assert_logits(self, lines, logits):
        self.assertEqual(len(lines), len(logits))
        for line, logit in zip(lines, logits):
            self.assertAlmostEqual(float(line), logit, delta=1e-4)

    def test_equal_pytorch_in_input_order(self):
        self.assert_logits(self.out("score", "--model", TINY, stdin=json_lines(PAIRS)), LOGITS)

    def test_of_pairs_that_were_cut_equal_pytorch(self):
        done = run("score", "--model", TINY, stdin=json_lines(GOLDEN))
        self.assert_logits(done.stdout.splitlines(), [record["logit"] for record in GOLDEN])
        self.assertEqual(done.stderr.decode(), "note: 2 of 14 pairs were cut to 61 tokens\n")

    def test_of_the_bundled_model_equal_pytorch(self):
        records = golden("golden/crossbill-minilm-l3-int8.jsonl")
        done = run("score", "--model", BUNDLED, "--json", stdin=json_lines(records))
        self.assertEqual(done.returncode, 0)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["tokens"] for line in lines], [record["ids_len"] for record in records])
        for line, record in zip(lines, records):
            self.assertAlmostEqual(line["logit"], record["logit"], delta=1e-4)

    def test_read_back_to_the_same_bits_as_json(self):
        text = self.out("score", "--model", TINY, stdin=json_lines(PAIRS))
        lines = self.out("score", "--model", TINY, "--json", stdin=json_lines(PAIRS))
        for short, line in zip(text, lines):
            self.assertIn(f'"score":{short},', line)
            self.assertEqual(struct.pack("f", float(short)), struct.pack("f", json.loads(line)["score"]))

    def test_json_has_just_these_fields(self):
        line = self.out("score", "--model", TINY, "--json", stdin=json_lines(PAIRS[:1]))[0]
        fields = json.loads(line)
        self.assertEqual(list(fields), ["score", "logit", "tokens", "truncated"])
        self.assertEqual(fields["tokens"], WHOLE[0]["ids_len"])
        self.assertIs(fields["truncated"], False)

    def test_of_several_labels_come_as_columns_and_arrays(self):
        records = [r for r in golden("tiny/three-labels.golden.jsonl") if r["ids_len"] < 61]
        rows = self.out("score", "--model", TINY_LABELS, "--activation", "none", stdin=json_lines(records))
        for row, record in zip(rows, records):
            for value, logit in zip(row.split("\t"), record["logits"], strict=True):
                self.assertAlmostEqual(float(value), logit, delta=1e-4)
        line = json.loads(self.out("score", "--model", TINY_LABELS, "--json", stdin=json_lines(records[:1]))[0])
        self.assertEqual(list(line), ["scores", "logits", "labels", "tokens", "truncated"])
        self.assertEqual(line["labels"], ["contradiction", "entailment", "neutral"])

    def test_activation_follows_the_model_unless_told(self):
        pairs = json_lines(PAIRS[:1])
        line = json.loads(self.out("score", "--model", TINY, "--json", "--activation", "sigmoid", stdin=pairs)[0])
        self.assertAlmostEqual(line["logit"], LOGITS[0], delta=1e-4)
        self.assertAlmostEqual(line["score"], 1 / (1 + 2.718281828459045 ** -LOGITS[0]), delta=1e-5)
        by_model = json.loads(self.out("score", "--model", TINY_LABELS, "--json", stdin=pairs)[0])
        self.assertNotEqual(by_model["scores"], by_model["logits"])  # its configuration names a sigmoid

    def test_reference_and_fp32_agree(self):
        fast = self.out("score", "--model", TINY, "--precision", "fp32", stdin=json_lines(PAIRS))
        slow = self.out("score", "--model", TINY, "--precision", "reference", stdin=json_lines(PAIRS))
        self.assert_logits(fast, [float(line) for line in slow])

    def test_do_not_depend_on_threads(self):
        one = self.out("score", "--model", TINY, "--threads", 1, stdin=json_lines(PAIRS * 20))
        three = self.out("score", "--model", TINY, "--threads", 3, stdin=json_lines(PAIRS * 20))
        self.assertEqual(one, three)
        self.assertEqual(one, one[: len(PAIRS)] * 20)

    def test_empty_passages_are_scored(self):
        blank = [{"query": "where is the market", "passage": text} for text in ("root", "", " ", "root")]
        lines = self.out("score", "--model", TINY, stdin=json_lines(blank))
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[1], lines[2])

    def test_that_are_not_finite_are_nan_or_null(self):
        done = run("score", "--model", self.model_without_bounds(), stdin=json_lines(PAIRS[:1]))
        self.assertEqual((done.returncode, done.stdout), (0, b"inf\n"), done.stderr)
        line = self.out("score", "--json", "--model", self.folder / "unbounded", stdin=json_lines(PAIRS[:1]))[0]
        self.assertEqual(json.loads(line)["score"], None)
        self.assertIs(json.loads(line)["not_finite"], True)

    def model_without_bounds(self):
        """The tiny model with a classifier bias of the largest float, and weights to push it over."""
        unpacked = self.folder / "unbounded"
        self.assertEqual(run("unpack", TINY, unpacked).returncode, 0)
        weights = bytearray((unpacked / "model.safetensors").read_bytes())
        size = struct.unpack("<Q", weights[:8])[0]
        header = json.loads(weights[8 : 8 + size])
        for name, value in (("classifier.bias", 3.4e38), ("bert.pooler.dense.bias", 100.0),
                            ("classifier.weight", 3e38)):
            begin, end = (8 + size + offset for offset in header[name]["data_offsets"])
            weights[begin:end] = struct.pack("<f", value) * ((end - begin) // 4)
        (unpacked / "model.safetensors").write_bytes(weights)
        return unpacked


class Input(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.expected = self.out("score", "--model", TINY, stdin=json_lines(PAIRS))

    def test_may_be_a_file_gzip_or_a_pipe_of_either(self):
        content = json_lines(PAIRS)
        plain, packed = self.write("pairs.jsonl", content), self.write("pairs.gz", content, compress=True)
        for arguments, stdin in (((plain,), b""), ((packed,), b""), (("-",), packed.read_bytes()),
                                 ((), content.encode())):
            self.assertEqual(self.out("score", "--model", TINY, *arguments, stdin=stdin), self.expected)

    def test_may_be_tab_separated_with_either_line_end_or_none_at_the_end(self):
        tsv = as_tsv(PAIRS)
        for content in (tsv, tsv.replace("\n", "\r\n"), tsv.removesuffix("\n"), "\ufeff" + tsv):
            self.assertEqual(self.out("score", "--model", TINY, stdin=content), self.expected)

    def test_keeps_json_apart_from_tsv_when_told(self):
        self.assertIn("<stdin>:1: not valid JSON", self.fails(1, "score", "--model", TINY, "--format", "jsonl",
                                                              stdin=as_tsv(PAIRS)))
        self.assertIn("found 1 column", self.fails(1, "score", "--model", TINY, "--format", "tsv",
                                                   stdin=json_lines(PAIRS)))

    def test_without_pairs_is_fine(self):
        for content in ("", "\n\n"):
            done = run("score", "--model", TINY, stdin=content)
            self.assertEqual((done.returncode, done.stdout), (0, b""))
            self.assertEqual(done.stderr.decode(), "note: <stdin> holds no pairs\n")

    def test_that_is_cut_short_names_the_file_after_what_was_whole(self):
        packed = self.write("pairs.gz", json_lines(PAIRS * 3000), compress=True)
        packed.write_bytes(packed.read_bytes()[:-20])
        self.assertIn(f"error: {packed}: the gzip data is cut short", self.fails(1, "score", "--model", TINY, packed))
        lines = self.stdout.splitlines()
        self.assertGreater(len(lines), 0)
        self.assertEqual(lines, (self.expected * 3000)[: len(lines)])

    def test_that_is_missing_is_named(self):
        missing = self.folder / "nothing.jsonl"
        self.assertIn(f"error: {missing}: can't be opened", self.fails(1, "score", "--model", TINY, missing))
        self.assertIn("is a folder", self.fails(1, "score", "--model", TINY, self.folder))

    def test_in_invalid_utf8_is_read_as_replacement_characters_in_tsv(self):
        broken = self.out("score", "--model", TINY, stdin=b"tea\twarm \xff tea\n")
        whole = self.out("score", "--model", TINY, stdin="tea\twarm \ufffd tea\n")
        self.assertEqual(broken, whole)


class BadLines(CommandLineTest):
    BAD = ['{"query": "q"}', '{"query": "q", "passage": 3}', "{", "[]", '{"query":"\\ud800","passage":""}',
           '{"query":' + "[" * 100000, "7"]

    def test_end_the_run_after_what_came_before(self):
        expected = self.out("score", "--model", TINY, stdin=json_lines(PAIRS))
        for bad in self.BAD:
            content = json_lines(PAIRS[:3]) + "\n" + bad + "\n" + json_lines(PAIRS)
            path = self.write("pairs.jsonl", content)
            self.assertIn(f"error: {path}:5: ", self.fails(1, "score", "--model", TINY, path))
            self.assertEqual(self.stdout.splitlines(), expected[:3])

    def test_say_why(self):
        said = self.fails(1, "score", "--model", TINY, stdin='{"query": "q", "text": "t"}\n')
        self.assertEqual(said, 'error: <stdin>:1: no "passage" field; found "query", "text"\n')
        said = self.fails(1, "score", "--model", TINY, stdin=b'{"query": "\xff", "passage": "t"}\n')
        self.assertIn("UTF-8", said)
        said = self.fails(1, "score", "--model", TINY, stdin="a\tb\nc\n")
        self.assertEqual(said, "error: <stdin>:2: expected query TAB passage, found 1 column\n")

    def test_skipped_keep_the_output_in_step(self):
        content = json_lines(PAIRS[:1]) + "oops\n" + json_lines(PAIRS[1:2]) + "{}\n"
        expected = self.out("score", "--model", TINY, stdin=json_lines(PAIRS[:2]))
        done = run("score", "--model", TINY, "--skip-bad", stdin=content)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.decode().splitlines(), [expected[0], "", expected[1], ""])
        self.assertIn("note: 2 of 4 lines were bad and skipped; the first: <stdin>:2: not valid JSON",
                      done.stderr.decode())
        done = run("score", "--model", TINY, "--skip-bad", "--json", stdin=content)
        self.assertEqual([json.loads(line) is None for line in done.stdout.splitlines()],
                         [False, True, False, True])


class Truncation(CommandLineTest):
    LONG = {"query": "where is the market", "passage": "the old city by the river " * 100}

    def test_is_counted(self):
        done = run("score", "--model", TINY, "--json", stdin=json_lines([PAIRS[0], self.LONG, PAIRS[1]]))
        self.assertEqual(done.returncode, 0)
        self.assertEqual([json.loads(line)["truncated"] for line in done.stdout.splitlines()], [False, True, False])
        limit = json.loads(done.stdout.splitlines()[1])["tokens"]
        self.assertEqual(done.stderr.decode(), f"note: 1 of 3 pairs was cut to {limit} tokens\n")

    def test_follows_max_length(self):
        done = run("score", "--model", TINY, "--json", "--max-length", 12, stdin=json_lines([self.LONG]))
        self.assertEqual(json.loads(done.stdout)["tokens"], 12)

    def test_side_and_strategy_matter(self):
        sided = {"query": "tea", "passage": "snow falls on the mountain " * 30 + "the market"}
        scores = {run("score", "--model", TINY, *options, stdin=json_lines([sided])).stdout
                  for options in ((), ("--truncation-side", "left"))}
        self.assertEqual(len(scores), 2)
        said = self.fails(1, "score", "--model", TINY, "--truncate", "query", stdin=json_lines([PAIRS[0], sided]))
        self.assertIn("error: <stdin>:2: ", said)

    def test_refused_names_the_line(self):
        content = json_lines([PAIRS[0], PAIRS[1], self.LONG, PAIRS[2]])
        expected = self.out("score", "--model", TINY, stdin=json_lines(PAIRS[:3]))
        self.assertIn("error: <stdin>:3: ", self.fails(1, "score", "--model", TINY, "--truncate", "error",
                                                       stdin=content))
        self.assertEqual(self.stdout.splitlines(), expected[:2])
        done = run("score", "--model", TINY, "--truncate", "error", "--skip-bad", stdin=content)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.decode().splitlines(), [*expected[:2], "", expected[2]])

    def test_special_tokens_can_be_read_as_text(self):
        pair = json_lines([{"query": "tea", "passage": "warm [SEP] tea"}])
        plain = json.loads(self.out("score", "--model", TINY, "--json", stdin=pair)[0])
        as_text = json.loads(self.out("score", "--model", TINY, "--json", "--special-tokens-as-text", stdin=pair)[0])
        self.assertGreater(as_text["tokens"], plain["tokens"])


class Output(CommandLineTest):
    def test_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = run("score", "--model", TINY, stdin=json_lines(PAIRS), stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: can't write to standard output: ", done.stderr.decode())

    def test_that_is_closed_is_an_error(self):
        done = subprocess.run(["sh", "-c", '"$0" score --model "$1" >&-', PROGRAM, TINY],
                              input=json_lines(PAIRS).encode(), stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"can't write to standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
