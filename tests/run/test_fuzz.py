"""Mutated programs, configurations and logs: each run ends soon, with a status of the contract, and keeps secrets."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from keyword import kwlist
from pathlib import Path
from random import Random

import pytest

from dynamo_lint import cli
from dynamo_lint.config import KEYS, OUTPUT_FORMATS
from dynamo_lint.contract import RANKS, Contract, Expectation
from dynamo_lint.raw_values import Reader, entry
from dynamo_lint.toml import tomllib
from tests.logs.test_logs import JOBS, MUTATIONS
from tests.truths import THEMES, Case, cases
from tools.fuzz import EVERYTHING, mutated

PROGRAMS, CONFIGURATIONS, LOGS = 100, 100, 30
SEED = 52
PATIENCE = 20
"""Seconds of processor time that one run may take, however busy the machine is: most take a tenth of one."""
SECRETS = {
    "SECRET_TOKEN": "hunter2-token",
    "CXX": "hunter2-compiler",
    "TORCHINDUCTOR_CACHE_DIRR": "hunter2-misspelt",
    "TORCH_API_KEY": "hunter2-unknown",
    "DYNAMO_LINT_TOKEN": "hunter2-ours",
    "HTTPS_PROXY": "http://user:hunter2-password@proxy",
}
"""Variables of the environment that are none of torch's, or that hold what cannot be a value of theirs."""
HARMLESS = {
    "TORCHINDUCTOR_CACHE_DIR": "caches",
    "TORCH_LOGS": "recompiles",
    "NCCL_DEBUG": "9",
    "WORLD_SIZE": "2",
}
"""Variables of torch and its libraries, which may be shown."""


@contextmanager
def limited() -> Iterator[None]:
    """Have what takes more processor time than a run may ended by a TimeoutError."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not done after {PATIENCE} s of processor time")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class Linter:
    """Runs commands in an environment with secrets."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys, self.monkeypatch = capsys, monkeypatch

    def run(self, folder: Path, *words: str) -> tuple[int, str]:
        """The status in a folder and what was printed, which is checked for what no run may say."""
        self.monkeypatch.chdir(folder)
        with limited():
            status = cli.run(words)
        said = self.capsys.readouterr()
        assert "internal error" not in said.err, said.err
        assert "Traceback" not in said.err, said.err
        assert all(map(str.isprintable, (said.out + said.err).split("\n"))), said.out + said.err
        assert "hunter2" not in said.out + said.err, said.out + said.err
        return status, said.out + said.err


@pytest.fixture
def linter(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Linter:
    for name, value in (*SECRETS.items(), *HARMLESS.items()):
        monkeypatch.setenv(name, value)
    return Linter(capsys, monkeypatch)


# --- programs -------------------------------------------------------------------------------------------

WORD = re.compile(r"[^\W\d]\w*")
NUMBER = re.compile(r"\b\d[\d_.]*\b")
TOKEN = re.compile(r"\w+|[^\w\s]")
NUMBERS = (
    "0", "-1", "1e999", "-0.0", "10**30", "2**63", "1j", "0x" + "f" * 5000, "9" * 4000, "True", "None",
    "1_0", "float('nan')", "-(-(1))", "'1'", "()", "[1][0]", "٣",
)  # fmt: skip
SIGNS = (
    "\0", "\u200b", "\u202e", "\ufeff", "\x0c", "\x85", "\u2028", "\udcff", "é", "ſ", "ｎ", "𝔫", "\U0001f4a3",
    "\\\n", "\r",
)  # fmt: skip
WRAPPERS = (("(", ")"), ("[", "][0]"), ("-", ""), ("not ", ""), ("(lambda: ", ")()"), ("{0: ", "}[0]"))


def lost(lines: list[str], chance: Random) -> None:
    """A line is lost."""
    del lines[chance.randrange(len(lines))]


def doubled(lines: list[str], chance: Random) -> None:
    """A line stands somewhere else as well."""
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))


def swapped(lines: list[str], chance: Random) -> None:
    """Two lines change places."""
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def tokens(lines: list[str], chance: Random) -> None:
    """One token of a line is lost, doubled or swapped for another of the program."""
    row = chance.randrange(len(lines))
    if places := list(TOKEN.finditer(lines[row])):
        place = chance.choice(places)
        other = chance.choice(TOKEN.findall("\n".join(lines)))
        new = chance.choice(("", f"{place[0]} {place[0]}", other))
        lines[row] = lines[row][: place.start()] + new + lines[row][place.end() :]


def block(lines: list[str], start: int) -> int:
    """The end of the block that a line begins: itself, and the lines below that are indented more."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
    ):
        end += 1
    return end


def blocks(lines: list[str], chance: Random) -> None:
    """A block is lost, doubled, or moved to another place, into which it is indented."""
    start = chance.choice([row for row, line in enumerate(lines) if line.rstrip().endswith(":")] or [0])
    taken = lines[start : (end := block(lines, start))]
    how = chance.choice(("lost", "doubled", "moved"))
    if how != "doubled":
        del lines[start:end]
    if how != "lost":
        place = chance.randrange(len(lines) + 1)
        below = lines[place] if place < len(lines) else ""
        shift = below[: len(below) - len(below.lstrip())]
        depth = len(taken[0]) - len(taken[0].lstrip())
        lines[place:place] = [shift + line[depth:] for line in taken]


def numbers(lines: list[str], chance: Random) -> None:
    """Some numbers become others, or what is none."""
    for row, line in enumerate(lines):
        lines[row] = NUMBER.sub(
            lambda match: chance.choice(NUMBERS) if chance.random() < 0.2 else match[0], line
        )


def names(lines: list[str], chance: Random) -> None:
    """A name becomes another of the program, in a line or throughout."""
    words = sorted({word for line in lines for word in WORD.findall(line)} - {*kwlist})
    if not words:
        return
    old, new = chance.choice(words), chance.choice(words)
    row = chance.randrange(len(lines))
    for place in range(len(lines)) if chance.random() < 0.6 else (row,):
        lines[place] = re.sub(rf"\b{re.escape(old)}\b", new, lines[place])


def nested(lines: list[str], chance: Random) -> None:
    """A value or a block lies in many others."""
    row = chance.randrange(len(lines))
    depth = chance.choice((3, 40, 90, 300))
    if match := re.match(r"(.*(?:=|return) )(\S.*)$", lines[row]):
        before, after = chance.choice(WRAPPERS)
        lines[row] = match[1] + before * depth + match[2] + after * depth
        return
    end, levels = block(lines, row), min(depth, 90)
    indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
    opening = chance.choice(("if x:", "for x in x:", "with x:", "while x:", "def x(x):", "class x(x):"))
    lines[row:end] = [
        *(f"{indent}{'    ' * level}{opening}" for level in range(levels)),
        *(f"{'    ' * levels}{line}" for line in lines[row:end]),
    ]


def signs(lines: list[str], chance: Random) -> None:
    """A letter that is odd, or looks like another, stands somewhere."""
    row = chance.randrange(len(lines))
    place = chance.randrange(len(lines[row]) + 1)
    lines[row] = lines[row][:place] + chance.choice(SIGNS) + lines[row][place + chance.randrange(2) :]


def texts(lines: list[str], chance: Random) -> None:
    """A text becomes the name of a secret, or what a shell or Python would read one from."""
    row = chance.choice([row for row, line in enumerate(lines) if '"' in line] or [0])
    name = chance.choice([*SECRETS])
    new = chance.choice((f'"{name}"', f'"${{{name}}}"', f"os.environ['{name}']"))
    lines[row] = re.sub('"[^"]*"', new, lines[row])


ACCIDENTS = (lost, doubled, swapped, tokens, blocks, blocks, numbers, names, names, nested, signs, texts)


def program(case: Case, chance: Random) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of each file of a program, with a few accidents in them."""
    for name, text in case.files:
        lines = text.splitlines()
        for _ in range(chance.randint(1, 4)):
            chance.choice(ACCIDENTS)(lines, chance)
            lines = lines or [""]
        made = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
        yield name, mutated(made, chance) if chance.random() < 0.1 else made


USES: tuple[tuple[str, ...], ...] = (
    *(("check", ".", "--output-format", form, *EVERYTHING) for form in OUTPUT_FORMATS),
    ("check", ".", "--diff", "--unsafe-fixes", "--pedantic", "--assume-compiled"),
    ("check", ".", "--fix", "--unsafe-fixes", "--pedantic", "--assume-compiled"),
    ("regions", "."),
    ("regions", ".", "--output-format", "json", "--assume-compiled"),
)
"""What is asked about a program."""


def parses(file: Path) -> bool:
    """Whether a file is Python."""
    try:
        compile(file.read_bytes(), file.name, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_mutated_programs_are_linted_or_named(here: Path, linter: Linter) -> None:
    chance = Random(SEED)
    originals = [case for theme in THEMES for case in cases(theme)]
    for number in range(PROGRAMS):
        case = chance.choice(originals)
        folder = here / str(number)
        folder.mkdir()
        for name, made in program(case, chance):
            (folder / name).write_bytes(made)
        before = {file: parses(file) for file in folder.glob("*.py")}
        status, said = linter.run(folder, *chance.choice(USES), "--no-cache", "-j", "1")
        assert status in (0, 1), (number, case.id, said)
        assert before == {file: parses(file) for file in folder.glob("*.py")}, (number, case.id)


# --- configurations -------------------------------------------------------------------------------------

MODEL = """\
import torch
from hydra.utils import instantiate


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0

    def forward(self, x):
        self._n += 1
        return x * 2


step = torch.compile(Model())
other = torch.compile(instantiate(cfg.model))
"""
VALUES = (
    "true", "0", "-1", "1", "9223372036854775807", "9" * 400, "9" * 5000, "1.5", "1e400", "-0.0", "inf", "nan",
    "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", '""', '" "', '"x"', '"\\u0000"', '"\\u202e"',
    '"\\U0001f4a3"', '"é"', "'''\n\n'''", '"[a-z"', '"\\\\"', '"(a+)+$"', f'"{"a*" * 40}b"',
    f'"{"x" * 5000}"', '"2.13"', '"2.99999999999999999999"', '">=0"', '">=9"', '"~=x"', '"ALL"', '"DYN101"',
    '"/"', '"../../.."', '"/dev/zero"', '"model.py"', '"m:f"', '"model:Model.forward"', '"model:*#0"',
    '"$SECRET_TOKEN"', '["$SECRET_TOKEN", "${CXX}/**"]', f"'>=2,>={'9' * 5000}'", "[]", "0.5", '"forbid"', f'"{RANKS}"', '"model:Model.forward"', '["model:Model.forward"]', '["a", "/", "/tmp"]', "[[]]", "[{}]", "[1, 2]", '["ALL"]', '["DYN101", "DYN101"]', '["DYN"]', '["**"]', '["!model.py"]',
    '["model:Model"]', '["model:*"]', '["*:*"]', '["a:b#1"]', f'["a:b#{"9" * 30}"]', '["model.py"]',
    '["\\u202e"]', '["x", 1]', f"{'[' * 90}{']' * 90}", f"{'[' * 3000}{']' * 3000}", "{}", "{ x = 1 }",
    '{ DYN101 = "off" }', '{ ALL = "error", DYN1 = "note" }', '{ "**" = ["ALL"] }', '{ "" = 1 }',
    f"{'{ a = ' * 60}1{' }' * 60}", '[{ paths = ["**"], select = ["ALL"] }]', '[{ paths = ["["] }]',
    *(about.example for about in KEYS.values() if about.example),
    *(f'"{word}"' for about in KEYS.values() for word in about.choices),
    '{ "model.py" = 2 }', '{ "model.py:Model.forward" = 0 }', '{ recompile_limit = 1e300 }',
)  # fmt: skip
"""Right-hand sides, most of which are of a wrong type for most keys."""
VARIABLES = (*HARMLESS, "TORCHDYNAMO_DISABLE", "HOME", "NOT_SET", "é", "")


def readers(kind: type[Contract | Expectation]) -> dict[str, Reader]:
    """The readers of the keys of a table that becomes a dataclass."""
    return {about.name.replace("_", "-"): about.metadata["read"] for about in fields(kind)}


TABLES: Mapping[str, Mapping[str, Reader]] = {
    "": {name: about.read for name, about in KEYS.items()},
    "contract": readers(Contract),
    "contract.environment.": readers(Expectation),
}
"""The readers of the keys of each table; the last is one of many, each with the name of a variable."""


BESIDE = {
    "requirements.txt": "torch>=2.6,<2.9; python_version > '3.9'\n-r other.txt\nnumpy==1.26.4 --hash=sha256:0\n",
    "uv.lock": 'version = 1\n\n[[package]]\nname = "torch"\nversion = "2.7.1"\n',
    "setup.cfg": "[metadata]\nname = model\n[options]\ninstall_requires =\n    torch>=2.6\n",
    "conf.yaml": "base: &b {_target_: model.Model, n: 1}\nmodel:\n  <<: *b\n  args: [1, 2.5, ~, ${n}, *b]\nn: 8\n",
    ".gitignore": "*.pyc\n!model.py\n/a/**/b\n[a-z]\\\n",
}
"""Other files that are read beside a configuration, each of which is damaged."""


def damaged(source: bytes, chance: Random) -> bytes:
    """A text with accidents in its bytes and lines."""
    lines = mutated(source, chance).splitlines() or [b""]
    row = chance.randrange(len(lines))
    lines[row] = chance.choice(MUTATIONS)(lines[row], chance)
    return b"\n".join(lines)


def fits(read: Reader, raw: str) -> bool:
    """Whether a key may be set to a right-hand side, as far as its reader can tell."""
    try:
        entry(tomllib.loads(f"x = {raw}")["x"], read, "x")
    except (ValueError, RecursionError):
        return False
    return True


@cache
def values(table: str, name: str) -> tuple[list[str], list[str]]:
    """What a key may be set to, and what it may not, though other keys may."""
    read = TABLES[table][name]
    return [raw for raw in VALUES if fits(read, raw)], [raw for raw in VALUES if not fits(read, raw)]


def keys(table: str, most: int, chance: Random) -> Iterator[str]:
    """Some keys of a table, each with a value; few of them are none, or have a value that they may not have."""
    for name in chance.sample([*TABLES[table]], chance.randint(1, most)):
        right, wrong = values(table, name)
        raw = chance.choice(wrong if wrong and chance.random() < 0.1 else right or wrong)
        yield f"{spelt(name, chance)} = {raw}"


def spelt(name: str, chance: Random) -> str:
    """A key as TOML writes it, now and then with an accident."""
    if chance.random() < 0.03:
        name = chance.choice((name[:-1], name.replace("-", "_"), name.upper(), f"{name}é", "", "a.b", "\\t"))
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else f'"{name}"'


def configuration(outer: str, chance: Random) -> bytes:
    """A configuration below some table, with keys and values of all kinds."""
    lines = [f"[{outer}]"] if outer else []
    if (kind := chance.randrange(3)) == 0:
        lines += keys("", 4, chance)
    elif kind == 1:
        lines += [f"[{outer}.contract]" if outer else "[contract]", *keys("contract", 3, chance)]
    else:
        for name in (chance.choice([*SECRETS]), *chance.sample(VARIABLES, chance.randrange(2))):
            table = f"{outer}.contract.environment" if outer else "contract.environment"
            lines += [f"[{table}.{spelt(name, chance)}]", *keys("contract.environment.", 2, chance)]
    text = "\n".join(lines).encode() + b"\n"
    return mutated(text, chance) if chance.random() < 0.15 else text


def test_odd_configurations_are_used_or_refused_in_a_line(here: Path, linter: Linter) -> None:
    chance = Random(SEED)
    commands = (
        ("check", ".", "--no-cache"),
        ("check", ".", "--no-cache", "--show-settings"),
        ("regions", ".", "--no-cache"),
        *(("doctor", "--output-format", form) for form in ("text", "text", "json")),
    )
    for number in range(CONFIGURATIONS):
        folder = here / str(number)
        folder.mkdir()
        (folder / "model.py").write_text(MODEL)
        name, outer = chance.choice((("pyproject.toml", "tool.dynamo-lint"), ("dynamo-lint.toml", "")))
        text = configuration(outer, chance)
        (folder / name).write_bytes(text)
        beside = chance.choice([*BESIDE])
        (folder / beside).write_bytes(damaged(BESIDE[beside].encode(), chance))
        status, said = linter.run(folder, *chance.choice(commands[3 * (b"environment" in text) :]))
        assert status in (0, 1, 2), (number, text, said)
        if status == 2:
            assert said.startswith("dynamo-lint: "), (number, text, said)
            assert said.count("\n") == 1, (number, text, said)


# --- logs -----------------------------------------------------------------------------------------------


def test_mutated_recordings_are_told_beside_the_findings_of_their_program(here: Path, linter: Linter) -> None:
    chance = Random(SEED)
    recordings = sorted(file for file in JOBS.glob("*.[lt]*") if file.stat().st_size)
    for number in range(LOGS):
        folder = here / str(number)
        folder.mkdir()
        log = chance.choice(recordings)
        shutil.copy(log.with_suffix(".py"), folder)
        lines = log.read_bytes().splitlines()
        for _ in range(chance.randint(1, 6)):
            row = chance.randrange(len(lines))
            lines[row] = chance.choice(MUTATIONS)(lines[row], chance)
        (folder / "mutated.log").write_bytes(b"\n".join(lines))
        form = chance.choice(("json", "text", "html", "github"))
        status, said = linter.run(folder, "logs", "mutated.log", "--output-format", form)
        assert status in (0, 1, 3), (number, log.name, form, said)
