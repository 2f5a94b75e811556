"""Models by name and path, packing, info, help, usage errors."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from command_line import BUNDLED, PROGRAM, TINY, CommandLineTest, environment, json_lines, run

PAIRS = json_lines([{"query": "where is the market", "passage": "The market is in the old city."},
                    {"query": "what does a crow eat", "passage": "black white"}])

ENCODING = ["--max-length", "--truncate", "--truncation-side", "--special-tokens-as-text"]
COMPUTING = ["--threads", "--isa", "--precision", "--activation"]
OPTIONS = {
    "score": ["FILE", "--format", "--json", "--skip-bad", "--model", *ENCODING, *COMPUTING],
    "rank": ["FILE", "--query", "--format", "--skip-bad", "--top", "--fusion", "--label", "--json", "--table", "--model",
             *ENCODING, *COMPUTING],
    "tokenize": ["FILE", "--format", "--json", "--skip-bad", "--model", *ENCODING, "--threads"],
    "pack": ["MODEL", "OUT", "--weights", "--force", "--json", "--model"],
    "unpack": ["MODEL", "FOLDER", "--force", "--json", "--model"],
    "info": ["MODEL", "--json", "--model", *COMPUTING],
}


class Help(CommandLineTest):
    def test_lists_the_commands(self):
        text = "\n".join(self.out("--help"))
        for command in OPTIONS:
            self.assertRegex(text, rf"(?m)^  {command} ")
        self.assertIn("Exit codes: 0 fine, 1 ", text)

    def test_of_a_command_mentions_every_option_and_shows_examples(self):
        for command, options in OPTIONS.items():
            text = "\n".join(self.out(command, "--help"))
            self.assertIn(f"Usage: crossbill {command} ", text)
            for option in options:
                self.assertRegex(text, rf"(?m)^  (-\w,)?{option}( |$)", f"{command} {option}")
            examples = text.partition("Examples:\n")[2]
            self.assertGreaterEqual(examples.count("crossbill "), 2, command)

    def test_on_a_full_disk_fails(self):
        with open("/dev/full", "wb") as full:
            done = run("score", "--help", stdout=full)
        self.assertEqual(done.returncode, 1)

    def test_version_names_the_kernel_sets(self):
        lines = self.out("--version")
        self.assertRegex(lines[0], r"^crossbill \d+\.\d+\.\d+$")
        self.assertIn("kernel sets: portable", lines[1])


class Usage(CommandLineTest):
    def test_that_makes_no_sense_is_exit_2(self):
        for arguments in ([], ["frobnicate"], ["score", "--frobnicate"], ["score", "a", "b"],
                          ["score", "--truncate", "sideways"], ["score", "--max-length", "2"],
                          ["score", "--threads", "-1"], ["score", "--threads"], ["score", "--format", "csv"],
                          ["rank", "--json", "--table", "--query", "q"], ["rank", "--fusion", "-0.1"],
                          ["rank", "--fusion", "nan"], ["pack", TINY],
                          ["pack", TINY, "x.cbm", "--weights", "int4"], ["unpack"]):
            said = self.fails(2, *arguments)
            self.assertRegex(said, r"Try crossbill( \w+)? --help", arguments)

    def test_an_ignored_variable_is_told(self):
        for value, told in (("many", True), ("0", True), ("2", False)):
            done = run("score", "--model", TINY, stdin=PAIRS, env=environment(CROSSBILL_THREADS=value))
            self.assertEqual((done.returncode, b"CROSSBILL_THREADS" in done.stderr), (0, told), value)

    def test_a_name_of_the_hub_is_told_that_nothing_is_downloaded(self):
        said = self.fails(1, "score", "--model", "cross-encoder/ms-marco-MiniLM-L-6-v2", stdin=PAIRS)
        self.assertIn("downloads nothing", said)

    def test_names_a_command_that_there_is_not(self):
        said = self.fails(2, "scor", "pairs.jsonl")
        self.assertIn('unknown command "scor"', said)
        self.assertIn("score, rank, tokenize, pack, unpack, info", said)

    def test_that_the_model_or_machine_cannot_follow_is_exit_2(self):
        said = self.fails(2, "score", "--model", TINY, "--isa", "abacus", stdin=PAIRS)
        self.assertIn("abacus", said)
        self.assertIn("portable", said)
        self.assertIn("100000", self.fails(2, "score", "--model", TINY, "--max-length", 100000, stdin=PAIRS))

    def test_a_query_may_begin_with_a_dash(self):
        self.assertEqual(len(self.out("rank", "--model", TINY, "--query", "-5 degrees", stdin="a\nb\n")), 2)


class ModelChoice(CommandLineTest):
    def score(self, *arguments, **variables):
        return run("score", *arguments, stdin=PAIRS, env=environment(**variables))

    def test_by_default_is_the_bundled_one(self):
        done = self.score()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, self.score("--model", BUNDLED).stdout)
        self.assertEqual(done.stdout, self.score("--model", "crossbill-minilm-l3").stdout)

    def test_can_come_from_the_environment(self):
        done = self.score(CROSSBILL_MODEL=TINY)
        self.assertEqual(done.stdout, self.score("--model", TINY).stdout)
        self.assertEqual(self.score("--model", BUNDLED, CROSSBILL_MODEL=TINY).stdout,
                         self.score("--model", BUNDLED).stdout)

    def test_looks_in_the_folder_named_by_the_environment(self):
        self.assertEqual(run("pack", TINY, self.folder / "mine.cbm", "--weights", "f16").returncode, 0)
        done = self.score("--model", "mine", CROSSBILL_MODELS_DIR=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_of_an_unknown_name_lists_names_and_places(self):
        done = self.score("--model", "no-such-model")
        self.assertEqual(done.returncode, 1)
        said = done.stderr.decode()
        self.assertIn('no model is called "no-such-model"; found: crossbill-minilm-l3', said)
        self.assertIn("looked in: ", said)
        done = self.score(CROSSBILL_MODELS_DIR=str(self.folder))
        self.assertIn(f"found: none; looked in: {self.folder}", done.stderr.decode())

    def test_of_a_path_that_is_no_model_names_it(self):
        missing = str(self.folder / "missing.cbm")
        self.assertIn(missing, self.score("--model", missing).stderr.decode())
        empty = self.write("empty.cbm", "")
        done = self.score("--model", str(empty))
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(empty), done.stderr.decode())

    def test_is_found_beside_an_installed_program(self):
        for folder in ("bin", "share/crossbill/models"):
            (self.folder / folder).mkdir(parents=True)
        shutil.copy2(PROGRAM, self.folder / "bin" / "crossbill")
        shutil.copy2(BUNDLED, self.folder / "share/crossbill/models/crossbill-minilm-l3.cbm")
        done = subprocess.run([self.folder / "bin" / "crossbill", "score"], input=PAIRS.encode(), env=environment(),
                              stdout=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, self.score().stdout))


class Packing(CommandLineTest):
    def test_in_f16_and_back_keeps_every_score_near(self):
        original = [float(line) for line in self.out("score", "--model", TINY, stdin=PAIRS)]
        packed, folder, again = self.folder / "tiny.cbm", self.folder / "tiny", self.folder / "again.cbm"
        report = self.out("pack", TINY, packed, "--weights", "f16")
        self.assertIn(f"wrote {packed}: ", report[0])
        self.assertIn(f"next: crossbill rank --model {packed}", report[1])
        self.out("unpack", packed, folder)
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt"])
        self.out("pack", folder, again, "--weights", "f16")
        from_packed = self.out("score", "--model", packed, stdin=PAIRS)
        self.assertEqual(self.out("score", "--model", folder, stdin=PAIRS), from_packed)
        self.assertEqual(self.out("score", "--model", again, stdin=PAIRS), from_packed)
        for line, score in zip(from_packed, original, strict=True):
            self.assertAlmostEqual(float(line), score, delta=0.02)

    def test_in_int8_reports_its_noise(self):
        packed = self.folder / "tiny.cbm"
        report = json.loads(self.out("pack", "--json", TINY, packed)[0])
        self.assertEqual((report["file"], report["weights"], report["bytes"]),
                         (str(packed), "int8", packed.stat().st_size))
        self.assertGreater(report["weight_snr_db"], 30)
        self.assertEqual(len(self.out("score", "--model", packed, stdin=PAIRS)), 2)

    def test_replaces_a_file_only_when_told(self):
        packed = self.write("tiny.cbm", "precious")
        self.assertIn(f"{packed} exists; --force replaces it", self.fails(1, "pack", TINY, packed))
        self.assertEqual(packed.read_text(), "precious")
        self.out("pack", TINY, packed, "--force")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.assertIn("no regular file", self.fails(1, "pack", TINY, pipe, "--force"))
        self.assertTrue(pipe.is_fifo())
        pipe.unlink()
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["tiny.cbm"])
        self.assertIn("is a folder", self.fails(2, "pack", TINY, self.folder))

    def test_takes_the_model_as_an_option_too(self):
        named, option = self.folder / "named.cbm", self.folder / "option.cbm"
        self.out("pack", TINY, named)
        report = json.loads(self.out("pack", "--model", TINY, option, "--json")[0])
        self.assertEqual(report["file"], str(option))
        self.assertEqual(option.read_bytes(), named.read_bytes())
        folders = self.folder / "named", self.folder / "option"
        self.out("unpack", named, folders[0])
        # The variable is no model of pack and unpack, which make files of what they are told alone.
        done = run("unpack", folders[1], "--json", "-m", named, env=environment(CROSSBILL_MODEL=os.devnull))
        self.assertEqual(json.loads(done.stdout), {
            "folder": str(folders[1]), "weight_bytes": (folders[1] / "model.safetensors").stat().st_size})
        for file in folders[0].iterdir():
            self.assertEqual((folders[1] / file.name).read_bytes(), file.read_bytes(), file.name)

    def test_needs_one_model_and_one_target(self):
        target = self.folder / "new"
        for command, name in (("pack", "OUT"), ("unpack", "FOLDER")):
            self.assertIn("MODEL: --model names one already",
                          self.fails(2, command, TINY, target, "--model", BUNDLED))
            self.assertIn(f"{name} is required", self.fails(2, command, target))
            self.assertIn(f"{name} is required", self.fails(2, command, "--model", TINY))
            self.assertIn("MODEL is required", self.fails(2, command))
        self.assertFalse(target.exists())

    def test_writes_into_a_filled_folder_only_when_told(self):
        folder = self.folder / "tiny"
        folder.mkdir()
        (folder / "notes.txt").write_text("precious")
        (folder / "config.json").write_text("old")
        self.assertIn("isn't empty; --force", self.fails(1, "unpack", TINY, folder))
        self.out("unpack", TINY, folder, "--force")
        self.assertEqual((folder / "notes.txt").read_text(), "precious")
        self.assertEqual(json.loads((folder / "config.json").read_text())["model_type"], "bert")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["tiny"])

    def test_of_what_is_no_model_fails(self):
        nothing = self.folder / "nothing"
        nothing.mkdir()
        self.assertIn(str(nothing), self.fails(1, "pack", nothing, self.folder / "x.cbm"))
        self.assertFalse((self.folder / "x.cbm").exists())


class Info(CommandLineTest):
    def test_tells_the_facts_of_the_bundled_model(self):
        text = "\n".join(self.out("info"))
        for fact in ("model crossbill-minilm-l3", "int8", "3 layers, 384 wide, 12 heads", "512 tokens", "portable",
                     "(in use)", "crossbill 0."):
            self.assertIn(fact, text)

    def test_as_json_is_one_object(self):
        info = json.loads(self.out("info", "--json", TINY)[0])
        self.assertEqual(list(info), ["version", "compiler", "build_type", "default_threads", "kernel_sets", "model"])
        self.assertEqual(sum(entry["in_use"] for entry in info["kernel_sets"]), 1)
        self.assertEqual(info["kernel_sets"][0]["name"], "portable")
        self.assertEqual(info["model"]["name"], TINY)
        with open(pathlib.Path(TINY) / "config.json", encoding="utf-8") as file:
            config = json.load(file)
        self.assertEqual(info["model"]["hidden_size"], config["hidden_size"])
        self.assertEqual(info["model"]["layers"], config["num_hidden_layers"])

    def test_follows_the_chosen_kernel_set_and_threads(self):
        info = json.loads(self.out("info", "--json", "--isa", "portable", "--threads", 3, TINY)[0])
        self.assertEqual((info["model"]["isa"], info["model"]["threads"]), ("portable", 3))
        done = run("info", "--json", "--model", TINY, env=environment(CROSSBILL_ISA="portable"))
        self.assertEqual(json.loads(done.stdout)["model"]["isa"], "portable")

    def test_model_may_be_said_in_either_way(self):
        self.assertEqual(self.out("info", TINY), self.out("info", "--model", TINY))
        done = run("info", "--json", TINY, env=environment(CROSSBILL_MODEL=os.devnull))
        self.assertEqual(json.loads(done.stdout)["model"]["name"], TINY)


if __name__ == "__main__":
    unittest.main()
