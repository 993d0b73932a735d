"""Whether the time of a check grows no faster than its input: `python bench/growth.py [SHAPE...]`.

Each shape is a project written at two sizes, the second four times the first, and checked without a cache in
one process. Prints the processor's seconds for both, less those of the smallest project, and their ratio.
Ends with 1 if one is over 6. Deep nesting must end in a clear line: exit code 0 or 2, and no traceback.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BAR = 6.0
HEAD = "import os, torch\nfrom torch import nn\n"
START = "nn.Module):\n    def __init__(self):\n        super().__init__()\n"
COUNTER = (
    f"{START}        self._n = 0\n    def forward(self, x):\n        self._n += 1\n        return x * 2\n"
)
HOT = "    def forward(self, x):\n"
END = "        return x\nm = torch.compile(M())\n"


class Each(str):
    """Text that is written once for every number: `#`; `@` is the one before it, and `~` stands for `#`."""


STORES, FUNCTIONS = Each("        self.n# = #\n"), Each("def f#(x):\n    return x + #\n")
METHODS = Each("    def m#(self, x):\n        self._n# = #\n        return x + #\n")
CLASS = (HEAD, "class A(", COUNTER, "a = torch.compile(A())\n")


def of_one_class(hot: str, *more: str, stores: str = STORES) -> dict[str, tuple[str, ...]]:
    return {"a.py": (HEAD, "class M(", START, stores, HOT, Each(hot), *more, END)}


SHAPES: dict[str, tuple[int, dict[str, tuple[str, ...]]]] = {
    "counters": (150, of_one_class("        self.n# += 1\n")),
    "reads": (1000, of_one_class("        x = x + self.n#\n")),
    "flags": (150, of_one_class("        if self.n#:\n            x = x + #\n")),
    "lookups": (300, of_one_class("        x = x + getattr(self, 'n#')\n")),
    "environment": (300, of_one_class("        x = x + int(os.environ['N#'])\n", stores="")),
    "suppressed": (600, of_one_class("        self.n# += 1  ~ dynamo-lint: ignore[DYN101]\n")),
    "methods": (250, of_one_class("        x = self.m#(x)\n", stores=METHODS)),
    "functions": (2000, {"a.py": (HEAD, FUNCTIONS, Each("g# = torch.compile(f#)\n"))}),
    "decorated": (2000, {"a.py": (HEAD, Each("@torch.compile\ndef f#(x):\n    return x + #\n"))}),
    "users": (
        1000,
        {"a.py": (HEAD, FUNCTIONS, Each("g# = torch.compile(f#)\ndef u#(x):\n    return g#(x)\n"))},
    ),
    "in_function": (
        1000,
        {"a.py": (HEAD, FUNCTIONS, "def run(x):\n", Each("    g# = torch.compile(f#)\n    g#(x)\n"))},
    ),
    "in_init": (
        1000,
        {
            "a.py": (
                HEAD,
                FUNCTIONS,
                "class A:\n    def __init__(self):\n",
                Each("        self.g# = torch.compile(f#)\n"),
                "    def run(self, x):\n",
                Each("        x = self.g#(x)\n"),
            )
        },
    ),
    "switched_off": (
        1000,
        {"a.py": (HEAD, "OFF = bool(os.name)\n", FUNCTIONS, Each("g# = torch.compile(f#, disable=OFF)\n"))},
    ),
    "in_place": (150, {"a.py": (HEAD, Each(f"class C#({COUNTER}c# = C#()\nc#.compile()\n"))}),
    "in_files": (150, {"a#.py": (HEAD, f"class C#({COUNTER}c# = torch.compile(C#())\n")}),
    "one_name": (150, {"a#.py": CLASS}),
    "read_outside": (150, {"a#.py": (*CLASS, "b = A()\nprint(b._n)\n")}),
    "read_of_anyone": (150, {"a#.py": (*CLASS, "def show(m):\n    print(m._n)\n")}),
    "reflection": (150, {"a#.py": (*CLASS, "b = A()\nprint(getattr(b, input()))\n")}),
    "chain": (250, {"a#.py": ("try:\n    import a@\nexcept ImportError:\n    pass\n", *CLASS)}),
    "descent": (
        250,
        {
            "a.py": (
                HEAD,
                "class C0(",
                COUNTER,
                Each("class C#(C@):\n    pass\n"),
                "c = torch.compile(C9())\n",
            )
        },
    ),
    "helpers": (
        250,
        {"a.py": (HEAD, FUNCTIONS, Each("def h#(x):\n    return f#(x)\nh# = torch.compile(h#)\n"))},
    ),
    "limits": (
        500,
        {
            "a.py": (
                HEAD,
                FUNCTIONS,
                Each("g# = torch.compile(f#)\nwith torch._dynamo.config.patch(recompile_limit=#): g#(1)\n"),
            )
        },
    ),
    "patched": (
        500,
        {
            "a.py": (
                HEAD,
                "@torch.compile\ndef f(x):\n    return x * 2\n",
                Each("@torch._dynamo.config.patch(recompile_limit=#)\n"),
                "def g(x):\n    return f(x)\n",
                Each("@torch._dynamo.config.patch(recompile_limit=#)\ndef g#(x):\n    return f(x), g@(x)\n"),
            )
        },
    ),
    "brackets": (5000, {"a.py": (HEAD, "x = ", Each("["), Each("]"), "\n", *CLASS)}),
    "settings": (5000, {"pyproject.toml": ("[tool.dynamo-lint]\nignore = ", Each("["), Each("]"))}),
}


def write(folder: str, files: dict[str, tuple[str, ...]], n: int) -> None:
    """Write the files of a shape at one size."""

    def numbered(text: str, i: int) -> str:
        return text.replace("#", str(i)).replace("@", str(i - 1)).replace("~", "#")

    for name, parts in files.items():
        for number in range(n) if "#" in name else (1,):
            texts = (
                "".join(numbered(part, i) for i in range(1, n + 1))
                if isinstance(part, Each)
                else numbered(part, number)
                for part in parts
            )
            Path(folder, numbered(name, number)).write_text("".join(texts))


def check(files: dict[str, tuple[str, ...]], n: int) -> tuple[float, str]:
    """Seconds of a check of a shape, and what is wrong with how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, files, n)
        command = [sys.executable, "-m", "dynamo_lint", "check", ".", "--no-cache", "--exit-zero", "-j", "1"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    wrong = done.returncode not in (0, 2) or "Traceback" in done.stderr + done.stdout
    return seconds, f"exit code {done.returncode}: {done.stderr[-500:]}" if wrong else ""


def main() -> int:
    """Print a line a shape; 1 if one grows too fast or ends badly."""
    least, bad = min(check(SHAPES["reads"][1], 2)[0] for _ in range(3)), 0
    for name in sys.argv[1:] or SHAPES:
        n, files = SHAPES[name]
        (few, wrong), (many, wrong_too) = check(files, n), check(files, 4 * n)
        few, many = (max(seconds - least, 0.05) for seconds in (few, many))
        failed = wrong or wrong_too or ("grows too fast" if many / few > BAR else "")
        bad += bool(failed)
        print(f"{name:15}{n:6}{few:8.2f} s{many:8.2f} s{many / few:6.1f}  {failed}".rstrip(), flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
