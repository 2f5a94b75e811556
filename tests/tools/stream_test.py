"""Long and slow streams: interruption, readers who leave, slow writers, memory, progress."""

import json
import os
import pty
import select
import signal
import subprocess
import threading
import time
import unittest

from command_line import BUNDLED, PATIENCE, PROGRAM, TINY, CommandLineTest, environment, json_lines, run, start

# Long enough that many of them take a while, even on a fast machine.
LONG_PAIRS = [{"query": f"what is number {i}", "passage": f"the answer {i} is further down in the text " * 16}
              for i in range(400)]
SHORT_PAIR = {"query": "where is the market", "passage": "The market is in the old city, by the river."}


def read_line(stream, patience=PATIENCE):
    """One line of an unbuffered pipe; empty if nothing comes."""
    line = b""
    while not line.endswith(b"\n") and select.select([stream], [], [], patience)[0]:
        byte = os.read(stream.fileno(), 1)
        if not byte:
            break
        line += byte
    return line


class Interruption(CommandLineTest):
    def interrupt_after_first_line(self, number, *arguments):
        process = start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        first = read_line(process.stdout)
        process.send_signal(number)
        rest, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, (first + rest).decode(), errors.decode()

    def test_ends_scoring_after_whole_windows_in_order(self):
        path = self.write("pairs.jsonl", json_lines(LONG_PAIRS * 50))
        code, out, errors = self.interrupt_after_first_line(signal.SIGINT, "score", "--model", BUNDLED, path)
        self.assertEqual((code, errors), (130, "interrupted\n"))
        self.assertTrue(out.endswith("\n"))
        lines = out.splitlines()
        self.assertLess(len(lines), len(LONG_PAIRS) * 50)
        count = min(len(lines), 40)
        expected = run("score", "--model", BUNDLED, stdin=json_lines(LONG_PAIRS[:count])).stdout.decode()
        self.assertEqual(lines[:count], expected.splitlines())

    def test_by_sigterm_is_told_apart(self):
        path = self.write("pairs.jsonl", json_lines(LONG_PAIRS * 50))
        code, _, errors = self.interrupt_after_first_line(signal.SIGTERM, "score", "--model", BUNDLED, path)
        self.assertEqual((code, errors), (143, "interrupted\n"))

    def test_ends_a_wait_for_input(self):
        for arguments in (["score"], ["tokenize"], ["rank", "--query", "q"]):
            process = start(*arguments, "--model", TINY, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, bufsize=0)
            if arguments[0] != "rank":  # rank prints nothing before the input ends
                process.stdin.write(json_lines([SHORT_PAIR]).encode())
                self.assertNotEqual(read_line(process.stdout), b"")
            else:
                time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 130)
            self.assertEqual(process.stderr.read(), b"interrupted\n")
            for stream in (process.stdin, process.stdout, process.stderr):
                stream.close()

    def test_ends_ranking_without_a_half_made_table(self):
        passages = self.write("passages.txt", "".join(p["passage"] + "\n" for p in LONG_PAIRS * 50))
        process = start("rank", "--model", BUNDLED, "--query", "what is number 7", passages,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, errors), (130, b"", b"interrupted\n"))

    def test_ends_the_wait_for_a_pipes_writer(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        process = start("score", "--model", TINY, pipe, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, errors), (130, b"", b"interrupted\n"))

    def test_that_the_parent_ignores_is_ignored(self):
        process = subprocess.Popen([PROGRAM, "score", "--model", TINY], stdin=subprocess.PIPE, env=environment(),
                                   stdout=subprocess.PIPE, bufsize=0,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        process.stdin.write(json_lines([SHORT_PAIR]).encode())
        first = read_line(process.stdout)
        process.send_signal(signal.SIGINT)
        process.stdin.write(json_lines([SHORT_PAIR]).encode())
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (0, first))


class Pipes(CommandLineTest):
    def test_a_slow_writer_gets_each_answer_at_once(self):
        requests = {"score": SHORT_PAIR, "tokenize": {"text": "the river"},
                    "rank": {"query": "where is the market", "passages": ["a", "b"]}}
        for command, request in requests.items():
            process = start(command, "--json", "--model", TINY, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            bufsize=0)
            for _ in range(3):
                process.stdin.write(json_lines([request]).encode())
                json.loads(read_line(process.stdout))  # before the next line is written, or ever
            process.stdin.close()
            self.assertEqual(process.wait(PATIENCE), 0)
            process.stdout.close()

    def test_a_reader_who_leaves_ends_the_run_quietly(self):
        pairs = self.write("pairs.jsonl", json_lines([SHORT_PAIR] * 40000))
        texts = self.write("texts.txt", "the market is in the old city\n" * 40000)
        for arguments in (["score", pairs], ["tokenize", "--json", texts]):
            process = start(*arguments, "--model", TINY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
            self.assertNotEqual(read_line(process.stdout), b"")
            process.stdout.close()
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()

    def test_that_are_full_and_do_not_block_are_waited_for(self):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        before = 0
        try:
            while True:
                before += os.write(writing, b"\n" * 4096)
        except BlockingIOError:
            pass
        process = start("tokenize", "--model", TINY, self.write("texts", "the old city\n" * 20000), stdout=writing,
                        stderr=subprocess.PIPE)
        os.close(writing)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.5)
        with open(reading, "rb") as stream:
            lines = stream.read()[before:].splitlines()
        self.assertEqual((process.wait(PATIENCE), process.stderr.read()), (0, b""))
        process.stderr.close()
        self.assertEqual(lines, [lines[0]] * 20000)


class Memory(CommandLineTest):
    @staticmethod
    def peak_kib(path):
        """Highest resident size of a run that reads `path`, by the kernel's own account."""
        with open(os.devnull, "wb") as nothing:
            process = subprocess.Popen([PROGRAM, "score", "--model", TINY, "--threads", "2", path], stdout=nothing,
                                       env=environment(ASAN_OPTIONS="quarantine_size_mb=1"))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss

    def test_does_not_grow_with_the_input(self):
        line = json.dumps({"query": "tea", "passage": "snow falls on the mountain in winter " * 40}) + "\n"
        short = self.write("short.jsonl", line * 4000)
        long = self.write("long.jsonl", line * 24000)  # 36 MB
        self.assertGreater(long.stat().st_size, 35_000_000)
        (short_code, short_peak), (long_code, long_peak) = self.peak_kib(short), self.peak_kib(long)
        self.assertEqual((short_code, long_code), (0, 0))
        self.assertLess(long_peak - short_peak, 18_000)

    def test_does_not_grow_with_one_endless_line(self):
        short = self.write("short.jsonl", json_lines([SHORT_PAIR]))
        with open(self.folder / "endless", "wb") as endless:
            endless.truncate(300 << 20)
        _, short_peak = self.peak_kib(short)
        code, peak = self.peak_kib(self.folder / "endless")
        self.assertEqual(code, 1)
        self.assertLess(peak - short_peak, 200_000)


class Progress(CommandLineTest):
    def test_shows_on_a_terminal_only_and_leaves_nothing_behind(self):
        terminal, child_end = pty.openpty()
        process = start("score", "--model", TINY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=child_end,
                        bufsize=0)
        os.close(child_end)
        shown = []

        def watch():
            try:
                while data := os.read(terminal, 4096):
                    shown.append(data)
            except OSError:  # how Linux says that the other end is closed
                pass

        watcher = threading.Thread(target=watch)
        watcher.start()
        deadline = time.monotonic() + PATIENCE
        while not any(b"pairs" in piece for piece in shown) and time.monotonic() < deadline:
            process.stdin.write(json_lines([SHORT_PAIR]).encode())
            self.assertNotEqual(read_line(process.stdout), b"")
            time.sleep(0.05)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        watcher.join()
        process.stdout.close()
        os.close(terminal)
        text = b"".join(shown).decode()
        self.assertRegex(text, r"\d+ pairs  [\d.,]+/s")
        self.assertTrue(text.endswith("\r\x1b[K"), repr(text[-80:]))


if __name__ == "__main__":
    unittest.main()
