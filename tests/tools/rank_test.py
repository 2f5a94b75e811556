"""crossbill rank: order, kept fields, fusion, requests, the table."""

import gzip
import json
import os
import pty
import subprocess
import unittest

from command_line import BUNDLED, PATIENCE, TINY, TINY_LABELS, CommandLineTest, environment, json_lines, run, start

QUERY = "where is the market"
PASSAGES = ["Snow falls on the mountain in winter.", "The market is in the old city, by the river.", "",
            "The crow eats seeds, nuts and apples.", "black white"]
VACCINES = [
    "The vaccination centre on Mill Road opens at nine and closes at five on weekdays.",
    "A vaccine shows the immune system a harmless piece of a germ, so that memory cells can answer quickly.",
    "Honey keeps for years because it holds so little water.",
]


def run_on_terminal(*arguments, stdin, **extra):
    """Standard output of a run whose standard output is a terminal of 80 columns."""
    terminal, child_end = pty.openpty()
    subprocess.run(["stty", "cols", "80"], stdin=child_end, check=True)
    process = start(*arguments, stdin=subprocess.PIPE, stdout=child_end, stderr=subprocess.PIPE,
                    env=environment(LC_ALL="C.UTF-8", TERM="xterm", **extra))
    os.close(child_end)
    process.stdin.write(stdin.encode())
    process.stdin.close()
    shown = b""
    try:
        while data := os.read(terminal, 4096):
            shown += data
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    process.wait(PATIENCE)
    process.stderr.close()
    return shown.decode().replace("\r\n", "\n")


class RankTest(CommandLineTest):
    def scores(self, passages, model=TINY):
        return [float(line) for line in
                self.out("score", "--model", model, stdin=json_lines({"query": QUERY, "passage": p} for p in passages))]

    def rank(self, *arguments, stdin, model=TINY):
        return [json.loads(line) for line in
                self.out("rank", "--model", model, "--json", *arguments, stdin=stdin)]


class Order(RankTest):
    def test_is_the_order_of_the_scores(self):
        scores = self.scores(PASSAGES)
        hits = self.rank("--query", QUERY, stdin="\n".join(PASSAGES) + "\n")
        expected = sorted(range(len(PASSAGES)), key=lambda i: (-scores[i], i))
        self.assertEqual([hit["index"] for hit in hits], expected)
        self.assertEqual([hit["rank"] for hit in hits], [1, 2, 3, 4, 5])
        for hit in hits:
            self.assertEqual(hit["score"], scores[hit["index"]])
            self.assertEqual(hit["text"], PASSAGES[hit["index"]])
        self.assertEqual(list(hits[0]), ["rank", "index", "score", "logit", "tokens", "truncated", "text"])

    def test_makes_sense_with_the_bundled_model(self):
        hits = self.rank("--query", "how do vaccines work", stdin="\n".join(VACCINES), model=BUNDLED)
        self.assertEqual(hits[0]["index"], 1)
        self.assertGreater(hits[0]["score"], 0)
        self.assertLess(hits[-1]["score"], 0)

    def test_breaks_ties_by_index(self):
        hits = self.rank("--query", QUERY, stdin="the river\n" * 5)
        self.assertEqual([hit["index"] for hit in hits], [0, 1, 2, 3, 4])

    def test_top_cuts_the_list(self):
        every = self.rank("--query", QUERY, stdin="\n".join(PASSAGES))
        for top, count in ((1, 1), (3, 3), (99, 5)):
            self.assertEqual(self.rank("--query", QUERY, "--top", top, stdin="\n".join(PASSAGES)), every[:count])

    def test_top_must_be_positive(self):
        for top in ("0", "-1", "x"):
            self.assertIn("--top", self.fails(2, "rank", "--query", QUERY, "--top", top, "--model", TINY, stdin="a\n"))

    def test_of_several_labels_needs_one_named(self):
        said = self.fails(2, "rank", "--query", QUERY, "--model", TINY_LABELS, stdin="a\n")
        self.assertIn("contradiction, entailment, neutral", said)
        said = self.fails(2, "rank", "--query", QUERY, "--label", "yes", "--model", TINY_LABELS, stdin="a\n")
        self.assertIn('no label "yes"', said)
        hits = self.rank("--query", QUERY, "--label", "neutral", stdin="\n".join(PASSAGES), model=TINY_LABELS)
        logits = [json.loads(line)["logits"][2] for line in self.out(
            "score", "--json", "--model", TINY_LABELS,
            stdin=json_lines({"query": QUERY, "passage": p} for p in PASSAGES))]
        self.assertEqual([hit["logit"] for hit in hits], sorted(logits, reverse=True))


class Passages(RankTest):
    def test_keep_their_other_fields(self):
        passages = [{"id": f"d{i}", "text": text, "meta": {"pages": [i, None]}, "tokens": "many"}
                    for i, text in enumerate(PASSAGES)]
        for hit in self.rank("--query", QUERY, stdin=json_lines(passages)):
            self.assertEqual(hit["id"], f"d{hit['index']}")
            self.assertEqual(hit["meta"], {"pages": [hit["index"], None]})
            self.assertEqual(hit["input_tokens"], "many")
            self.assertIsInstance(hit["tokens"], int)

    def test_may_be_called_passage(self):
        named = self.rank("--query", QUERY, stdin=json_lines({"passage": p} for p in PASSAGES))
        plain = self.rank("--query", QUERY, stdin="\n".join(PASSAGES))
        self.assertEqual([(hit["index"], hit["score"]) for hit in named],
                         [(hit["index"], hit["score"]) for hit in plain])

    def test_that_are_bad_are_named_or_skipped(self):
        content = json_lines([{"text": "a"}, {"body": "b"}, {"text": "c"}])
        self.assertIn('error: <stdin>:2: no "text" or "passage" field; found "body"',
                      self.fails(1, "rank", "--query", QUERY, "--model", TINY, stdin=content))
        self.assertEqual(self.stdout, "")
        done = run("rank", "--query", QUERY, "--json", "--skip-bad", "--model", TINY, stdin=content)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2))
        self.assertIn("note: 1 bad line was skipped; the first: <stdin>:2: ", done.stderr.decode())

    def test_that_are_too_long_are_named_or_skipped(self):
        content = "tea\n" + "the old city " * 100 + "\nriver\n"
        arguments = ["rank", "--query", QUERY, "--model", TINY, "--truncate", "error"]
        self.assertIn("error: <stdin>:2: ", self.fails(1, *arguments, stdin=content))
        done = run(*arguments, "--skip-bad", "--json", stdin=content)
        self.assertEqual(sorted(json.loads(line)["text"] for line in done.stdout.splitlines()), ["river", "tea"])

    def test_that_are_shortened_are_counted(self):
        done = run("rank", "--query", QUERY, "--json", "--model", TINY, stdin="tea\n" + "the old city " * 100)
        self.assertEqual(sorted(json.loads(line)["truncated"] for line in done.stdout.splitlines()), [False, True])
        self.assertIn("note: 1 of 2 passages shown was cut to ", done.stderr.decode())

    def test_may_be_none(self):
        done = run("rank", "--query", QUERY, "--model", TINY)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b"note: <stdin> holds no passages\n"))

    def test_in_plain_text_need_a_query(self):
        self.assertIn("--query", self.fails(2, "rank", "--format", "text", "--model", TINY, stdin="a\n"))
        self.assertIn("--query", self.fails(1, "rank", "--model", TINY, stdin="a\n"))


class Fusion(RankTest):
    FIRST = [3.0, -1.0, 0.5, 2.0, 10.0]

    def content(self):
        return json_lines({"text": p, "score": s} for p, s in zip(PASSAGES, self.FIRST))

    def test_mixes_the_first_stage_in(self):
        scores = self.scores(PASSAGES)
        for weight in (0, 0.25, 1):
            hits = self.rank("--query", QUERY, "--fusion", weight, stdin=self.content())
            fused = [weight * f + (1 - weight) * s for f, s in zip(self.FIRST, scores)]
            self.assertEqual([hit["index"] for hit in hits], sorted(range(5), key=lambda i: -fused[i]))
            for hit in hits:
                self.assertAlmostEqual(hit["score"], fused[hit["index"]], places=5)
                self.assertEqual(hit["model_score"], scores[hit["index"]])
                self.assertEqual(hit["input_score"], self.FIRST[hit["index"]])

    def test_of_a_passage_does_not_depend_on_the_others(self):
        every = self.rank("--query", QUERY, "--fusion", 0.3, stdin=self.content())
        alone = self.rank("--query", QUERY, "--fusion", 0.3, stdin=self.content().splitlines()[2])
        self.assertEqual([hit["score"] for hit in every if hit["index"] == 2], [alone[0]["score"]])

    def test_cuts_to_the_top_after_mixing(self):
        hits = self.rank("--query", QUERY, "--fusion", 1, "--top", 1, stdin=self.content())
        self.assertEqual([hit["index"] for hit in hits], [4])

    def test_needs_a_score_from_every_passage(self):
        said = self.fails(1, "rank", "--query", QUERY, "--fusion", 0.5, "--model", TINY,
                          stdin=self.content() + '{"text": "t"}\n')
        self.assertIn('error: <stdin>:6: no first-stage "score"', said)
        self.fails(2, "rank", "--query", QUERY, "--fusion", 1.5, "--model", TINY, stdin=self.content())


class Requests(RankTest):
    REQUESTS = [{"qid": 1, "query": QUERY, "passages": PASSAGES},
                {"query": "tea", "passages": [{"text": "warm", "page": 3}, {"text": "cold", "page": 4}]},
                {"query": "nothing", "passages": []}]

    def test_give_one_object_each(self):
        answers = self.rank(stdin=json_lines(self.REQUESTS))
        self.assertEqual(len(answers), 3)
        self.assertEqual(list(answers[0]), ["qid", "query", "results"])
        self.assertEqual(answers[0]["results"], self.rank("--query", QUERY, stdin="\n".join(PASSAGES)))
        self.assertEqual({hit["page"] for hit in answers[1]["results"]}, {3, 4})
        self.assertEqual(answers[2]["results"], [])

    def test_as_text_carry_the_request_number(self):
        rows = [line.split("\t") for line in self.out("rank", "--model", TINY, "--top", 2,
                                                      stdin=json_lines(self.REQUESTS))]
        self.assertEqual([row[:2] for row in rows], [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]])

    def test_that_are_bad_are_named_after_the_good_ones(self):
        content = json_lines([self.REQUESTS[1], {"query": "q", "passages": ["a", 7]}, self.REQUESTS[1]])
        said = self.fails(1, "rank", "--json", "--model", TINY, stdin=content)
        self.assertIn("error: <stdin>:2: passages[1]: a string or an object was expected, found a number", said)
        self.assertEqual(len(self.stdout.splitlines()), 1)
        done = run("rank", "--json", "--skip-bad", "--model", TINY, stdin=content)
        self.assertEqual([json.loads(line) is None for line in done.stdout.splitlines()], [False, True, False])

    def test_before_the_end_of_a_file_cut_short_are_printed(self):
        content = gzip.compress(json_lines([self.REQUESTS[1]] * 2).encode())
        said = self.fails(1, "rank", "--json", "--model", TINY, stdin=content[:-8])
        self.assertIn("error: <stdin>: the gzip data is cut short", said)
        self.assertEqual(len(self.stdout.splitlines()), 2)

    def test_name_the_passage_that_is_too_long(self):
        content = json_lines([{"query": "q", "passages": ["a", "the old city " * 100]}])
        self.assertIn("error: <stdin>:1: passages[1]: ",
                      self.fails(1, "rank", "--truncate", "error", "--model", TINY, stdin=content))


class Table(RankTest):
    def test_is_for_terminals(self):
        shown = run_on_terminal("rank", "--model", BUNDLED, "--query", "how do vaccines work", "-",
                                stdin="\n".join(VACCINES) + "\n", NO_COLOR="1")
        lines = shown.splitlines()
        self.assertEqual(lines[0], "query: how do vaccines work")
        self.assertEqual(lines[1].split(), ["rank", "score", "tokens", "passage"])
        self.assertIn("A vaccine shows", lines[2])
        self.assertTrue(lines[2].endswith("…"), lines[2])
        self.assertTrue(all(len(line) <= 80 for line in lines[:5]), lines)
        self.assertRegex(lines[5], r"^3 passages in .* ms, .*crossbill-minilm-l3, fp32 on ")
        self.assertNotIn("\x1b", shown)

    def test_has_colours_unless_unwanted(self):
        shown = run_on_terminal("rank", "--model", BUNDLED, "--query", "how do vaccines work",
                                stdin="\n".join(VACCINES))
        self.assertIn("\x1b[1;32m", shown)

    def test_shows_no_escape_sequence_of_a_passage(self):
        shown = run_on_terminal("rank", "--model", TINY, "--query", "q\x1b[5m", stdin="a\x1b[2Jb\n", NO_COLOR="1")
        self.assertNotIn("\x1b", shown)

    def test_can_be_had_without_a_terminal(self):
        lines = self.out("rank", "--table", "--model", TINY, "--query", QUERY, stdin="\n".join(PASSAGES))
        self.assertEqual(lines[0], f"query: {QUERY}")

    def test_is_tab_separated_text_otherwise(self):
        rows = [line.split("\t") for line in
                self.out("rank", "--model", TINY, "--query", QUERY, stdin="\n".join(PASSAGES))]
        self.assertEqual([len(row) for row in rows], [5] * 5)
        self.assertEqual([row[4] for row in rows], [PASSAGES[int(row[2])] for row in rows])


if __name__ == "__main__":
    unittest.main()
