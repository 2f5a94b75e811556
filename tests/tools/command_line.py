"""Runs the built program for the tests beside it.

The environment says where things are: CROSSBILL_PROGRAM is the program, CROSSBILL_TEST_DATA is tests/data,
CROSSBILL_BUNDLED_MODEL is a .cbm file in models/.
"""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["CROSSBILL_PROGRAM"]
DATA = pathlib.Path(os.environ["CROSSBILL_TEST_DATA"])
BUNDLED = os.environ["CROSSBILL_BUNDLED_MODEL"]
TINY = str(DATA / "tiny" / "one-label")
TINY_LABELS = str(DATA / "tiny" / "three-labels")
# Far beyond what anything here takes, so that a hang ends as a failure.
PATIENCE = 300


def environment(**extra):
    """This process's variables without those that would steer the program, and with `extra`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CROSSBILL_") and k != "NO_COLOR"}
    return {**kept, **extra}


def default_signals():
    """For a child whose ancestors may ignore SIGINT, as background jobs do."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*arguments, **options):
    options.setdefault("env", environment())
    return subprocess.Popen([PROGRAM, *map(str, arguments)], preexec_fn=default_signals, **options)


def run(*arguments, stdin=b"", **options):
    """Runs to the end; stdout and stderr are bytes."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("env", environment())
    return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, stderr=subprocess.PIPE, timeout=PATIENCE,
                          check=False, **options)


def json_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def expand(text):
    """Golden files write long texts as {"repeat": [text, count]}."""
    return text["repeat"][0] * text["repeat"][1] if isinstance(text, dict) else text


def golden(name):
    """Pairs with PyTorch's logits, in order."""
    with open(DATA / name, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for record in records:
        record["query"] = expand(record["query"])
        record["passage"] = expand(record["passage"])
    return records


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content, compress=False):
        path = self.folder / name
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if compress else content)
        return path

    def out(self, *arguments, **options):
        """Lines of standard output of a run that must succeed without a word on standard error."""
        done = run(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode().splitlines()

    def fails(self, code, *arguments, **options):
        """What a run that must fail with `code` says."""
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertIn("error: ", done.stderr.decode())
        self.stdout = done.stdout.decode()
        return done.stderr.decode()
