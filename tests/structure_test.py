"""Checks what docs/design.md promises of the tree itself: who may include whom, and names that say something."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
SOURCES = {".cpp", ".hpp", ".h", ".inl", ".inc", ".c"}

# Which rooms of the project a room may include from, itself aside. Three headers of plain types are open to all.
ARROWS = {
    "tokenizer": set(),
    "kernels": set(),
    "loader": {"kernels", "tokenizer"},
    "engine": {"loader", "kernels", "tokenizer"},
    "tools": {"engine", "loader", "crossbill"},
}
OPEN_TO_ALL = {"crossbill/error.hpp", "crossbill/encoding.hpp", "crossbill/visibility.hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def sources(room):
    return [p for p in sorted((ROOT / room).rglob("*")) if p.suffix in SOURCES]


class Arrows(unittest.TestCase):
    def test_rooms_include_downwards_only(self):
        seen = 0
        for room, allowed in ARROWS.items():
            for path in sources(room):
                for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
                    target = header.split("/")[0] if "/" in header else None
                    if target not in ARROWS and target != "crossbill":
                        continue
                    seen += 1
                    mine = target == room or (room == "engine" and target == "crossbill")
                    self.assertTrue(
                        mine or target in allowed or header in OPEN_TO_ALL,
                        f"{path.relative_to(ROOT)} includes {header}; {room} may include from {sorted(allowed)} only",
                    )
        self.assertGreater(seen, 20, "the includes were not found")

    def test_public_headers_include_only_std_and_each_other(self):
        headers = sources("engine/include")
        self.assertTrue(headers)
        for path in headers:
            for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
                self.assertTrue(
                    header.startswith("crossbill/") or re.fullmatch(r"[a-z_]+(\.h)?", header),
                    f"{path.relative_to(ROOT)} includes {header}",
                )


class Names(unittest.TestCase):
    def test_files_say_what_they_hold(self):
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
        files = listed.stdout.split() if listed.returncode == 0 else []
        if not files:
            self.skipTest("not a git checkout")
        vague = [f for f in files if re.fullmatch(r"(utils?|common|helpers?|misc)\b.*", pathlib.PurePath(f).name)]
        self.assertEqual(vague, [])

    def test_files_stay_readable(self):
        for room in [*ARROWS, "tests", "bench"]:
            for path in sources(room):
                if path.suffix == ".inc":
                    continue  # generated tables
                lines = path.read_text(encoding="utf-8").count("\n")
                self.assertLessEqual(lines, 450, f"{path.relative_to(ROOT)} has {lines} lines")


if __name__ == "__main__":
    unittest.main()
