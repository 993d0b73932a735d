"""Shell scripts: the programs that they start, each with the variables that it gets.

A script is read command by command from its top to its end. What only a run tells is said to be open.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.ir import Exported, Launch, Launcher
from dynamo_lint.index.launcher_names import ENDINGS

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
ASSIGNS = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.ASCII | re.DOTALL)
_REFERS = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?:(:?[-=])([^{}]*))?\}|([A-Za-z_]\w*))", re.ASCII)
OPEN = "\0"
"""Stands in a text for what only a run knows."""
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*")
_DATA = knowledge.table("launchers")
_BEFORE, _RUNS_RANKS = frozenset(_DATA["before"].split()), frozenset(_DATA["ranks"].split())
_RANK_MODULES, _SHELLS = frozenset(_DATA["rank_modules"].split()), frozenset(_DATA["shells"].split())
_CONTAINERS = frozenset(_DATA["containers"].split())
_HANDS = {name: words.split() for words, names in _DATA["hands"].items() for name in names.split()}
"""The options by which commands hand variables over."""
_ENDS = frozenset({";", "&&", "||", "|", "&", ";;", "|&", "\n"})
_WORDS = frozenset(
    {"then", "do", "else", "{", "}", "!", "elif", "if", "while", "until", "fi", "done", "esac", "in"}
)
_OPENS, _CLOSES = (
    frozenset({"if", "while", "until", "case", "for", "select"}),
    frozenset({"fi", "done", "esac"}),
)
MOST_STEPS = 5000
_DEEPEST = 4


@dataclass(slots=True)
class State:
    """The variables and words that hold at one place of a launcher."""

    local: dict[str, str | None] = field(default_factory=dict)
    """The values of all names; None where only a run tells."""
    exported: dict[str, Exported] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    """The other files whose variables hold, too."""
    inherits: bool = True
    opened: str = ""
    """The line by which it may hold more than is seen."""

    def copy(self) -> State:
        """Return the same, to be changed by itself."""
        return replace(self, local=dict(self.local), exported=dict(self.exported), arrays=dict(self.arrays))

    def export(
        self, name: str, value: str | None, line: int, conditional: bool, default: bool = False
    ) -> Exported:
        """Give the programs that start from here on a variable."""
        before = self.exported.get(name)
        sure = not conditional or (before is not None and not before.conditional)
        one = Exported(name, value, line, not sure, default)
        self.exported[name] = one
        self.local[name] = value
        return one

    def unset(self, name: str, conditional: bool) -> None:
        """Take a variable away, if that happens in any case."""
        if not conditional:
            self.exported.pop(name, None)
            self.local.pop(name, None)

    def cleared(self) -> None:
        """Take all variables away, also those from outside."""
        self.exported.clear()
        self.sources, self.inherits, self.opened = (), False, ""

    def launch(self, program: str, line: int, ranks: bool, is_module: bool = False) -> Launch:
        """The start of a program under what holds here."""
        given = tuple(self.exported.values())
        return Launch(program, line, is_module, ranks, given, self.sources, self.inherits, self.opened)


def expanded(text: str, state: State) -> str:
    """A word with the variables that are known in place of their names, and `OPEN` for the others."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[4]
        known = state.local.get(name, match[3] if match[2] else None)
        return OPEN if known is None else known

    return re.sub(r"\$[\d@#*?!$-]|\$\{[^{}]*\}", OPEN, _REFERS.sub(value, text))


def value_of(text: str, state: State) -> tuple[str | None, bool]:
    """The value of a word, None where only a run knows it; and whether one from outside comes before it."""
    default = re.fullmatch(r"\$\{([A-Za-z_]\w*):?[-=]((?:[^{}]|\{[^{}]*\})*)\}", text, re.ASCII)
    unset = default is not None and default[1] not in state.local
    whole = expanded(default[2] if default is not None and unset else text, state)
    return (None if OPEN in whole and not whole.strip(OPEN) else whole.replace(OPEN, "${}")), unset


# --- shell -----------------------------------------------------------------------------------------------


def read_shell(text: str) -> Launcher:
    """The variables and programs of a script."""
    reader = Shell(State())
    reader.read(text, 1)
    return reader.launcher()


class Shell:
    """Reads a script from its top to its end."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.exports: list[Exported] = []
        self.launches: list[Launch] = []
        self._depth = 0
        self._steps = 0
        self._all = False
        self._outer: list[State] = []
        self.lines: list[str] = []

    def launcher(self) -> Launcher:
        """All that was read."""
        state = self.state
        return Launcher(
            tuple(self.exports),
            tuple(self.launches),
            tuple(state.exported.values()),
            state.sources,
            state.opened,
        )

    def read(self, text: str, first: int, nested: int = 0) -> None:
        """Read a text whose first line has this number."""
        lines = text.split("\n")
        outer, self.lines = self.lines, lines
        self.first = first
        number = 0
        while number < len(lines):
            start, statement = number, lines[number]
            number += 1
            if statement.lstrip().startswith("#"):
                self._directive(statement.strip(), start + first)
                continue
            tokens = _tokens(statement)
            while tokens is None and number < len(lines):
                statement = (
                    statement[:-1] + " " + lines[number]
                    if statement.endswith("\\")
                    else statement + "\n" + lines[number]
                )
                number += 1
                tokens = _tokens(statement)
            here = re.search(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1", statement)
            held: list[str] = []
            at = number
            if here is not None:
                while number < len(lines) and lines[number].strip() != here[2]:
                    held.append(lines[number])
                    number += 1
                number += 1
            for command in _commands(tokens or []):
                self._steps += 1
                if self._steps > MOST_STEPS:
                    return
                self._command(command, start + first, number + first - 1, nested)
                if (
                    held
                    and nested < _DEEPEST
                    and command[0].rpartition("/")[2] in {*_SHELLS, "sbatch", "srun", "ssh"}
                ):
                    self._nested("\n".join(held), at + first, nested)
        self.lines = outer

    def _nested(self, text: str, first: int, nested: int) -> None:
        before = self.state.copy()
        lines, begin = self.lines, self.first
        self.read(text, first, nested + 1)
        self.lines, self.first, self.state = lines, begin, before

    def _directive(self, text: str, line: int) -> None:
        """`#SBATCH --export=ALL,X=v`, and `#PBS -v X=v`."""
        if found := re.match(r"#SBATCH\s+--export[= ]\s*(\S+)", text):
            self._slurm(found[1].strip("\"'"), line)
        elif found := re.match(r"#(?:PBS|\$)\s+-v\s+(\S+)", text):
            self._pairs(found[1].strip("\"'").split(","), line)

    def _slurm(self, value: str, line: int) -> None:
        words = value.split(",")
        if "ALL" not in words:
            self.state.cleared()
        self._pairs((one for one in words if one not in {"ALL", "NONE", "NIL"}), line)

    def _pairs(self, words: Iterable[str], line: int) -> None:
        for word in words:
            if given := ASSIGNS.fullmatch(word):
                self._export(given[1], given[2], line)
            elif NAME.fullmatch(word):
                self._export(word, None, line)

    def _export(self, name: str, text: str | None, line: int) -> None:
        value, default = (None, True) if text is None else value_of(text, self.state)
        self.exports.append(self.state.export(name, value, line, self._depth > 0, default))

    def _line(self, name: str, start: int, end: int) -> int:
        """The line of a statement on which a word stands."""
        for number in range(start, end + 1):
            at = number - self.first
            if 0 <= at < len(self.lines) and re.search(rf"(?<!\w){re.escape(name)}", self.lines[at]):
                return number
        return start

    def _command(self, words: list[str], start: int, end: int, nested: int) -> None:
        words = self._opened_words(words)
        if not words:
            return
        if words[0] == "(":
            self._outer.append(self.state.copy())
            words = words[1:]
        closing = words.count(")") if "(" not in words else 0
        words = [one for one in words if one not in {"(", ")", "()"}]
        self._simple(words, start, end, nested)
        for _ in range(closing):
            if self._outer:
                self.state = self._outer.pop()

    def _opened_words(self, words: list[str]) -> list[str]:
        """The words without those that open or close a block."""
        while words and (words[0] in _WORDS or words[0] in _OPENS or words[0] in _CLOSES):
            word = words[0]
            self._depth += (word in _OPENS) - (word in _CLOSES)
            self._depth = max(self._depth, 0)
            if word in {"for", "select", "case"}:
                if word == "for" and len(words) > 1:
                    self.state.local[words[1]] = None
                return []
            words = words[1:]
        return words

    def _simple(self, words: list[str], start: int, end: int, nested: int) -> None:
        """One command with the assignments before it."""
        state = self.state
        given: list[tuple[str, str]] = []
        while words and (one := ASSIGNS.fullmatch(words[0])):
            if (
                one[2] == ""
                and len(words) > 1
                and "=" not in words[1]
                and words[0].endswith("=")
                and self._is_array(words[0], start, end)
            ):
                state.arrays[one[1]] = [expanded(word, state) for word in words[1:]]
                return
            given.append((one[1], one[2]))
            words = words[1:]
        words = self._spliced(words)
        if not words:
            for name, text in given:
                value, default = value_of(text, state)
                if self._all or name in state.exported:
                    self._export(name, text, self._line(name, start, end))
                elif self._depth and name in state.local and state.local[name] != value:
                    state.local[name] = None
                else:
                    state.local[name] = value
                    if default:
                        state.arrays.setdefault(f"{name} by default", [])
            return
        match words[0]:
            case "export" | "declare" | "typeset":
                if words[0] == "export" or "-x" in words:
                    self._exporting(words[1:], start, end)
            case "unset":
                for name in words[1:]:
                    state.unset(name, self._depth > 0)
            case "set" if words[1:2] in (["-a"], ["+a"]) or words[2:3] == ["allexport"]:
                self._all = words[1].startswith("-")
            case "source" | "." if len(words) > 1:
                self._source(expanded(words[1], state))
            case "eval" if len(words) > 1:
                self.nested_command(" ".join(words[1:]), start, nested, keep=True)
            case ":":
                for word in words[1:]:
                    if found := re.fullmatch(r"\$\{([A-Za-z_]\w*):?=([^{}]*)\}", word):
                        state.local.setdefault(found[1], found[2])
            case _:
                self.started(words, given, start, end, nested)

    def _is_array(self, word: str, start: int, end: int) -> bool:
        return any(
            f"{word}(" in self.lines[number - self.first]
            for number in range(start, end + 1)
            if 0 <= number - self.first < len(self.lines)
        )

    def _spliced(self, words: list[str]) -> list[str]:
        """The words with what stands in an array, or a command in a variable, in place of its name."""
        found: list[str] = []
        for number, word in enumerate(words):
            array = re.fullmatch(r"\$\{([A-Za-z_]\w*)\[[@*]\]\}", word)
            name = re.fullmatch(r"\$\{?([A-Za-z_]\w*)\}?", word)
            if array is not None:
                found += self.state.arrays.get(array[1], [OPEN])
            elif name is not None and number == 0 and (text := self.state.local.get(name[1])):
                found += text.split()
            else:
                found.append(word)
        return found

    def _exporting(self, words: Sequence[str], start: int, end: int) -> None:
        if "-n" in words:
            for name in words:
                self.state.exported.pop(name, None)
            return
        for word in words:
            if one := ASSIGNS.fullmatch(word):
                self._export(one[1], one[2], self._line(one[1], start, end))
            elif NAME.fullmatch(word):
                value = self.state.local.get(word)
                default = word not in self.state.local or f"{word} by default" in self.state.arrays
                line = self._line(word, start, end)
                self.exports.append(self.state.export(word, value, line, self._depth > 0, default))

    def _source(self, path: str) -> None:
        path = path.replace(OPEN, "").lstrip("/") if path.startswith(OPEN) else path
        if OPEN in path or not path:
            self.state.opened = self.state.opened or "source"
        elif not re.search(r"(^|/)(activate|\.?bashrc|profile|conda\.sh|modules\.sh)$", path):
            self.state.sources = (*self.state.sources, path)

    def nested_command(self, text: str, start: int, nested: int, keep: bool = False) -> None:
        """Read a command that stands in a text; what it sets is left with it, or kept."""
        if nested >= _DEEPEST:
            return
        before = self.state.copy()
        lines, begin = self.lines, self.first
        self.read(_plain(text), start, nested + 1)
        self.lines, self.first = lines, begin
        if not keep:
            self.state = before

    def started(
        self, words: list[str], given: list[tuple[str, str]], start: int, end: int, nested: int
    ) -> None:
        """A program, with the variables of its command alone."""
        before = self.state.copy()
        for name, text in given:
            self._export(name, text, self._line(name, start, end))
        for one in self._programs([*words], start, end, nested):
            self.launches.append(one)
        self.state = before

    def _programs(self, words: list[str], start: int, end: int, nested: int) -> Iterator[Launch]:
        ranks = False
        while words:
            word = expanded(words.pop(0), self.state)
            name = word.rpartition("/")[2]
            if name == "env":
                words = self._env(words, start, end)
            elif name in _SHELLS:
                if "-c" in words or any(re.fullmatch(r"-[a-z]*c", one) for one in words):
                    at = next(n for n, one in enumerate(words) if re.fullmatch(r"-[a-z]*c", one))
                    if words[at + 1 : at + 2]:
                        self.nested_command(words[at + 1], start, nested)
                    return
                yield from self._script(words, start, ranks)
                return
            elif _PYTHON.fullmatch(word) or (word == OPEN and words and words[0].endswith(".py")):
                yield from self._python(words, start, end, ranks)
                return
            elif name in _BEFORE:
                ranks = ranks or (name in _RUNS_RANKS and not _is_single(words))
                words = self._past_options(name, words, start, end)
            elif word.endswith(".py"):
                yield self.state.launch(
                    word, self._line(word.rpartition("/")[2].strip(OPEN), start, end), ranks
                )
                return
            elif word.endswith((*ENDINGS, ".job")):
                yield self.state.launch(word, start, ranks)
                return
            else:
                return

    def _env(self, words: list[str], start: int, end: int) -> list[str]:
        """The words that follow `env -i -u X A=b`."""
        while words and (words[0].startswith("-") or ASSIGNS.fullmatch(words[0])):
            word = words.pop(0)
            if one := ASSIGNS.fullmatch(word):
                self._export(one[1], one[2], self._line(one[1], start, end))
            elif word in {"-", "-i", "--ignore-environment"}:
                self.state.cleared()
            elif word in {"-u", "--unset"} and words:
                self.state.unset(words.pop(0), False)
                self.state.inherits = False
            elif word.startswith("--unset="):
                self.state.unset(word.partition("=")[2], False)
        return words

    def _past_options(self, name: str, words: list[str], start: int, end: int) -> list[str]:
        """The words from the command on that another starts; its options may hand variables over."""
        words = [*words]
        handing = name in _CONTAINERS
        while words:
            word = words[0]
            option, _, value = word.partition("=")
            if word == "--":
                return words[1:]
            if (
                option in {"-e", "--env", "-x", "-v"}
                and name not in {"timeout", "time"}
                and option in _HANDS.get(name, ())
            ):
                words.pop(0)
                given = value if _ and option.startswith("--") else words.pop(0) if words else ""
                self._pairs([given], self._line(given.partition("=")[0] or name, start, end))
            elif option == "--env-file" and handing:
                words.pop(0)
                path = value or (words.pop(0) if words else "")
                self.state.sources = (*self.state.sources, path)
            elif option == "--export" and name in {"srun", "sbatch"}:
                words.pop(0)
                self._slurm(value or (words.pop(0) if words else ""), self._line("--export", start, end))
            elif _is_command(word):
                if handing and name in {"docker", "podman", "nvidia-docker"} and word not in {"run", "exec"}:
                    pass
                return words
            else:
                words.pop(0)
        return []

    def _script(self, words: list[str], start: int, ranks: bool) -> Iterator[Launch]:
        for word in words:
            if not word.startswith("-"):
                whole = expanded(word, self.state)
                if whole.strip(OPEN):
                    yield self.state.launch(whole, start, ranks)
                return

    def _python(self, words: list[str], start: int, end: int, ranks: bool) -> Iterator[Launch]:
        """The programs that `python -u train.py` and `python -m pkg.train` run."""
        while words:
            word = expanded(words.pop(0), self.state)
            if word == "-m" and words:
                module = expanded(words.pop(0), self.state)
                if module in _RANK_MODULES:
                    ranks = ranks or not _is_single(words)
                    yield from self._programs(
                        self._past_options("torchrun", words, start, end), start, end, _DEEPEST
                    )
                elif OPEN not in module:
                    line = self._line(module, start, end)
                    yield self.state.launch(module, line, ranks, True)
                return
            if word in {"-c", "-"}:
                return
            if word in {"-W", "-X"} and words:
                words.pop(0)
            elif not word.startswith("-"):
                if word.strip(OPEN):
                    line = self._line(word.rpartition("/")[2].strip(OPEN), start, end)
                    yield self.state.launch(word, line, ranks)
                return


def _is_command(word: str) -> bool:
    """Whether a word behind the options of another command begins the command that it starts."""
    name = word.rpartition("/")[2]
    known = name in _BEFORE or name in _SHELLS or name == "env" or _PYTHON.fullmatch(word) is not None
    return known or word == "-m" or word.endswith((".py", *ENDINGS))


def _is_single(words: Sequence[str]) -> bool:
    """Whether a launcher of ranks is told to start one process."""
    text = " ".join(words)
    count = re.search(r"--(?:nproc[-_]per[-_]node|num[-_]processes|num[-_]gpus)[= ](\S+)", text)
    nodes = re.search(r"--(?:nnodes|num[-_]machines)[= ](\S+)", text)
    return count is not None and count[1] == "1" and (nodes is None or nodes[1] in {"1", "1:1"})


def _tokens(statement: str) -> list[str] | None:
    """The words of a statement; None where it goes on in the next line."""
    if statement.endswith("\\"):
        return None
    lexer = shlex.shlex(_plain(statement), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return _without_comment([*lexer])
    except ValueError:
        return None


def _without_comment(tokens: list[str]) -> list[str]:
    at = next((n for n, one in enumerate(tokens) if one.startswith("#")), len(tokens))
    return tokens[:at]


def _plain(text: str) -> str:
    """A text with `OPEN` in place of the commands and the arithmetic in it."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("$(", at):
            depth, end = 0, at + 1
            while end < len(text):
                depth += (text[end] == "(") - (text[end] == ")")
                end += 1
                if depth == 0:
                    break
            if depth:
                return text  # goes on in the next line
            found.append(OPEN)
            at = end
        elif text[at] == "`" and "`" in text[at + 1 :]:
            found.append(OPEN)
            at = text.index("`", at + 1) + 1
        else:
            found.append(text[at])
            at += 1
    return re.sub(rf"{OPEN}+", OPEN, "".join(found))


def _commands(tokens: list[str]) -> Iterator[list[str]]:
    """The commands of a statement; what is redirected is left out."""
    command: list[str] = []
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif token in _ENDS or set(token) <= set(";&|\n"):
            if command:
                yield command
            command = []
        elif set(token) <= set("<>&") and token:
            if command and command[-1].isdigit():
                command.pop()
            skip = True
        else:
            command.append(token)
    if command:
        yield command


def read_variables(text: str) -> Launcher:
    """A file of variables alone, `X=v` in each line."""
    state = State()
    exports = []
    for number, line in enumerate(text.split("\n"), 1):
        if given := ASSIGNS.fullmatch(line.strip().removeprefix("export ").strip()):
            exports.append(state.export(given[1], given[2].strip().strip("\"'"), number, False))
    return Launcher(tuple(exports), (), tuple(state.exported.values()), (), "")
