"""Dockerfiles and YAML (Kubernetes, Compose, workflows): what containers start, with its variables."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dynamo_lint.index.ir import Exported, Launch, Launcher
from dynamo_lint.index.shell_scripts import ASSIGNS, MOST_STEPS, NAME, Shell, State, value_of

# --- Dockerfiles -----------------------------------------------------------------------------------------


def read_dockerfile(text: str) -> Launcher:
    """The variables and the program of the last image of a Dockerfile."""
    state, stages = State(inherits=False), dict[str, State]()
    exports: list[Exported] = []
    launches: list[Launch] = []
    entry: tuple[list[str] | str, int] | None = None
    last: tuple[list[str] | str, int] | None = None
    stage = ""
    for line, name, rest in _instructions(text):
        match name:
            case "FROM":
                words = rest.split()
                base = next((one for one in words if not one.startswith("--")), "")
                stages[stage] = state
                state = stages[base].copy() if base in stages else State(inherits=False)
                stage = words[-1] if len(words) > 2 and words[-2].lower() == "as" else ""
                entry = last = None
            case "ARG":
                argument, _, given = rest.partition("=")
                state.local[argument.strip()] = given.strip("\"'") or None
            case "ENV":
                for key, text_, at in _pairs_of(rest, line, text):
                    value, default = value_of(text_, state)
                    exports.append(state.export(key, value, at, False, default))
            case "ENTRYPOINT":
                entry, last = (_listed(rest), line), None
            case "CMD":
                last = _listed(rest), line
    command = [one for one in (entry, last) if one is not None]
    if command:
        launches += _run_words([words for words, _ in command], state, command[-1][1], exports)
    return Launcher(tuple(exports), tuple(launches), tuple(state.exported.values()), (), "", container=True)


def _instructions(text: str) -> Iterator[tuple[int, str, str]]:
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        start, whole = number, lines[number].strip()
        number += 1
        if not whole or whole.startswith("#"):
            continue
        while whole.endswith("\\") and number < len(lines):
            following = lines[number].strip()
            number += 1
            whole = whole[:-1] + ("" if following.startswith("#") else "\n" + following)
            if following.startswith("#"):
                whole += "\\"
        name, _, rest = whole.partition(" ")
        yield start + 1, name.upper(), rest.strip()


def _pairs_of(rest: str, line: int, text: str) -> Iterator[tuple[str, str, int]]:
    """The variables of an `ENV`, with the lines that they stand on."""
    lines = text.split("\n")
    first = rest.split(None, 1)
    if first and "=" not in first[0]:
        yield first[0], first[1].strip("\"'") if len(first) > 1 else "", line
        return
    for word in shlex.split(rest):
        if one := ASSIGNS.fullmatch(word):
            near = range(line, min(line + 100, len(lines) + 1))
            yield one[1], one[2], next((n for n in near if re.search(rf"\b{one[1]}\b", lines[n - 1])), line)


def _listed(rest: str) -> list[str] | str:
    """The words of a command in brackets, or the text of one that a shell reads."""
    if rest.startswith("["):
        try:
            words = json.loads(rest)
        except ValueError:
            return rest
        return [str(one) for one in words] if isinstance(words, list) else rest
    return rest


def _run_words(
    parts: Sequence[list[str] | str], state: State, line: int, exports: list[Exported]
) -> Iterator[Launch]:
    """The programs of a command that a container starts."""
    words = [
        word
        for part in parts
        for word in ([part] if isinstance(part, str) and len(parts) == 1 else _words(part))
    ]
    reader = Shell(state.copy())
    reader.first, reader.lines = line, []
    if len(parts) == 1 and isinstance(parts[0], str):
        reader.nested_command(parts[0], line, 0, keep=True)
    else:
        given = []
        while words and (one := ASSIGNS.fullmatch(words[0])):
            given.append((one[1], one[2]))
            words = words[1:]
        if words:
            reader.started(words, given, line, line, 0)
    exports += reader.exports
    yield from (replace(one, line=line) if one.line < line else one for one in reader.launches)


def _words(part: list[str] | str) -> list[str]:
    return part if isinstance(part, list) else part.split()


# --- YAML ------------------------------------------------------------------------------------------------

_GIVES = ("env", "envs", "environment")
_STARTED = ("entrypoint", "command", "args")
_SCRIPTS = ("run", "script", "setup", "before_script")


def read_yaml(text: str) -> Launcher:
    """The variables and programs of all maps that have such."""
    import yaml  # type: ignore[import-untyped]  # late: few projects have any

    exports: list[Exported] = []
    launches: list[Launch] = []
    if text.count("*") > 1000:
        return Launcher()
    try:
        documents = [*yaml.compose_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
    except yaml.YAMLError:
        return Launcher()
    budget = [MOST_STEPS]
    for document in documents:
        _mapped(document, State(inherits=False), exports, launches, budget)
    return Launcher(tuple(dict.fromkeys(exports)), tuple(dict.fromkeys(launches)), (), (), "", container=True)


def _mapped(
    node: Any, state: State, exports: list[Exported], launches: list[Launch], budget: list[int]
) -> None:
    """Read a node of YAML, and those below it, under the variables of those around."""
    budget[0] -= 1
    kind = type(node).__name__
    if budget[0] < 0 or kind not in {"MappingNode", "SequenceNode"}:
        return
    if kind == "SequenceNode":
        for one in node.value:
            _mapped(one, state, exports, launches, budget)
        return
    rows = dict(_rows(node))
    inner = state.copy()
    for key in _GIVES:
        for name, value, line in _given(rows.get(key)):
            exports.append(inner.export(name, value, line, False))
    for path in _texts(rows.get("env_file")):
        inner.sources = (*inner.sources, path)
    if "envFrom" in rows or ("env_file" in rows and not inner.sources):
        inner.opened = "envFrom"
    parts = [(_texts(rows[key]), rows[key]) for key in _STARTED if key in rows]
    if parts:
        lists = [
            texts if type(one).__name__ == "SequenceNode" else (texts[0] if texts else "")
            for texts, one in parts
        ]
        line = parts[-1][1].start_mark.line + 1
        if len(lists) == 1 or all(isinstance(one, list) for one in lists) or not isinstance(lists[0], str):
            launches += _run_words(lists, inner, line, exports)
        else:
            launches += _run_words([" ".join(" ".join(_words(one)) for one in lists)], inner, line, exports)
    for key in _SCRIPTS:
        if key in rows and (texts := _texts(rows[key])):
            line = rows[key].start_mark.line + 1 + (getattr(rows[key], "style", None) in {"|", ">"})
            reader = Shell(inner.copy())
            reader.read("\n".join(texts), line)
            exports += reader.exports
            launches += (one for one in reader.launches)
    for key, value in rows.items():
        if key not in {*_GIVES, *_STARTED, *_SCRIPTS}:
            _mapped(value, inner, exports, launches, budget)


def _rows(node: Any) -> Iterator[tuple[str, Any]]:
    """The keys and values of a map, with those that it merges."""
    for key, value in node.value:
        if key.value == "<<":
            for one in value.value if type(value).__name__ == "SequenceNode" else [value]:
                if type(one).__name__ == "MappingNode":
                    yield from _rows(one)
    for key, value in node.value:
        if isinstance(key.value, str) and key.value != "<<":
            yield key.value, value


def _given(node: Any) -> Iterator[tuple[str, str | None, int]]:
    """The variables of `env:`: a map, a list of `{name, value}`, or a list of `X=v`."""
    kind = type(node).__name__
    if kind == "MappingNode":
        for name, value in _rows(node):
            if NAME.fullmatch(name):
                yield name, _text(value), value.start_mark.line + 1
    for one in node.value if kind == "SequenceNode" else ():
        if type(one).__name__ == "MappingNode":
            rows = dict(_rows(one))
            if "name" in rows and isinstance(rows["name"].value, str):
                value = rows.get("value")
                line = (value or rows["name"]).start_mark.line + 1
                yield rows["name"].value, _text(value) if value is not None else None, line
        elif isinstance(one.value, str):
            name, has, text = one.value.partition("=")
            yield name, (text if "$" not in text else None) if has else None, one.start_mark.line + 1


def _text(node: Any) -> str | None:
    """A value as the container gets it; None where only a run tells."""
    if type(node).__name__ != "ScalarNode" or "$" in node.value:
        return None
    return str(node.value)


def _texts(node: Any) -> list[str]:
    """The texts of a list, or the one that there is."""
    match type(node).__name__:
        case "ScalarNode":
            return [node.value]
        case "SequenceNode":
            return [one.value for one in node.value if isinstance(one.value, str)]
    return []
