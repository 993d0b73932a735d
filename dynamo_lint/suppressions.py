"""Comments that silence findings.

`# dynamo-lint: ignore[DYN101] reason`, `# dynamo-lint: file-ignore[DYN101]` and `# noqa: DYN101` are known.
Behind code, a comment covers its line, and the whole statement if it stands on its first or last line. On
a line of its own it covers the next statement; for a `def` or `class` that includes the body. Comments are
found by the tokenizer, so text in strings never counts. There is no blanket form.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.lintrules import lint_finding
from dynamo_lint.selectors import UnknownSelector, closest, matching

_DIRECTIVE = re.compile(r"#\s*dynamo-lint:\s*([a-z-]+)\s*(\[[^\]]*\])?", re.IGNORECASE)
_NEXT = re.compile(r"\s#\s*[A-Za-z]")
"""Where the reason of a directive ends and another comment on the same line begins."""
_NOQA = re.compile(r"#\s*noqa\s*:\s*([A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_VERBS = ("ignore", "file-ignore")
UNUSED = "DYN903"
_MOST = 200
"""Rules that one comment may name; there are not so many."""
_REGION_VERBS = ("region", "eager", "region-begin", "region-end")
"""Directives that the region stage reads."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A comment that addresses us, as it was written."""

    span: Span
    verb: str
    """`ignore`, `file-ignore`, `noqa`, or something we do not know."""
    selectors: tuple[str, ...]
    alone: bool
    """No code stands before it on its line."""
    brackets: Span | None = None
    """The list of selectors with its brackets."""
    whole: Span | None = None
    """The text to take out of the file if the directive is to go, reason and blanks included."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """One selector of one directive, and the lines it covers."""

    directive: Directive
    selector: str
    codes: frozenset[str]
    first: int
    last: int


Lines = Mapping[tuple[str, str], list[int]]
"""By file and rule, the lines of the findings, in order."""


def lines_of(findings: Iterable[Finding]) -> Lines:
    """The lines of findings, to be asked for what stands on some of them."""
    found: dict[tuple[str, str], list[int]] = {}
    for finding in sorted(findings, key=lambda one: one.span.line):
        found.setdefault((finding.span.path, finding.code), []).append(finding.span.line)
    return found


def covered(findings: Iterable[Finding], suppressions: Iterable[Suppression]) -> list[Finding]:
    """Those findings that are of a rule which a suppression names, and stand on a line that it covers."""
    reach: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for one in sorted(suppressions, key=lambda one: one.first):
        for code in one.codes:
            known = reach.setdefault((one.directive.span.path, code), [])
            # The last line that this one or one above it covers.
            known.append((one.first, max(one.last, known[-1][1] if known else 0)))

    def is_covered(finding: Finding) -> bool:
        line, here = finding.span.line, reach.get((finding.span.path, finding.code), [])
        above = bisect_right(here, line, key=itemgetter(0))
        return above > 0 and line <= here[above - 1][1]

    return [one for one in findings if is_covered(one)]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file's lines form statements."""

    logical: tuple[tuple[int, int], ...]
    """First and last physical line of each logical line, in order."""
    bodies: Mapping[int, int]
    """Last line of each `def` and `class`, by the line of its header and of each of its decorators."""

    def reach(self, line: int, alone: bool) -> tuple[int, int]:
        """The lines that a comment on `line` covers."""
        at = bisect_left(self.logical, line, key=itemgetter(1))  # the first that does not end above the line
        if at == len(self.logical):
            return line, line
        first, last = self.logical[at]
        if first > line:
            return first, self.bodies.get(first, last)
        return (first, last) if alone or line in (first, last) else (line, line)


def read(
    path: str, text: str, catalogue: Mapping[str, str], is_code: bool = True
) -> tuple[tuple[Suppression, ...], tuple[Finding, ...]]:
    """The suppressions in one file that parses, and a finding for each directive that names no rule."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline) if is_code else _comments(text))
    directives = tuple(_directives(path, text.split("\n"), tokens))
    if not directives:
        return (), ()
    layout = Layout(tuple(_logical_lines(tokens)), _bodies(ast.parse(text))) if is_code else _by_lines(text)
    suppressions: list[Suppression] = []
    unknown: list[Finding] = []
    for directive in directives:
        if problem := _problem(directive):
            unknown.append(_unknown(directive, problem))
            continue
        reach = layout.reach(directive.span.line, directive.alone)
        first, last = (1, text.count("\n") + 1) if directive.verb == "file-ignore" else reach
        for selector in directive.selectors:
            try:
                codes = matching(selector, catalogue)
            except UnknownSelector as error:
                # A code we do not know in a noqa comment may well be somebody else's.
                if directive.verb != "noqa":
                    unknown.append(_unknown(directive, str(error), selector))
                continue
            suppressions.append(Suppression(directive, selector, codes, first, last))
    return tuple(suppressions), tuple(unknown)


def _comments(text: str) -> Iterator[tokenize.TokenInfo]:
    """The comments of a launcher: in shell, Dockerfiles and YAML they begin with `#` behind a blank."""
    for number, line in enumerate(text.split("\n"), 1):
        if found := re.search(r"(?:^|(?<=\s))#.*", line):
            yield tokenize.TokenInfo(
                tokenize.COMMENT, found[0], (number, found.start()), (number, found.end()), line
            )


def _by_lines(text: str) -> Layout:
    """The statements of a launcher: one in each line that is no comment, but for those that go on."""
    rows: list[tuple[int, int]] = []
    first = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            first = first or number
            if not line.endswith("\\"):
                rows.append((first, number))
                first = 0
    return Layout(tuple(rows), {})


def written(codes: Sequence[str], reason: str) -> str:
    """A comment that silences some rules."""
    return f"# dynamo-lint: ignore[{', '.join(codes)}] {reason}"


def begins_another(reason: str) -> bool:
    """Whether a reason holds what reads as the beginning of another comment."""
    return _NEXT.search(f" {reason}") is not None


def line_for_comment(text: str, line: int) -> int | None:
    """The line at whose end a comment covers a line of a file that parses; None if there is none.

    That is the line itself, but for one that ends in a string or goes on behind a backslash: of such a
    statement it is the last one.
    """
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    ends = set(_line_ends(tokens))
    if line in ends:
        return line
    statement = next((last for first, last in _logical_lines(tokens) if first <= line <= last), None)
    return statement if statement in ends else None


def _line_ends(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[int]:
    """The lines at whose end a comment can stand."""
    depth = 0
    for token in tokens:
        name = tokenize.tok_name[token.type]
        # Of a string with fields only the end counts: before 3.12 no comment is allowed within.
        depth += name in ("FSTRING_START", "TSTRING_START")
        depth -= name in ("FSTRING_END", "TSTRING_END")
        if name in ("NEWLINE", "NL") and not depth:
            yield token.start[0]


def unused(suppressions: Iterable[Suppression], lines: Lines, enabled: frozenset[str]) -> Iterator[Finding]:
    """A finding for each of our selectors that covers no line of a finding although its rules are enabled."""
    for suppression in suppressions:
        directive = suppression.directive
        path = directive.span.path
        idle = not any(_has(lines.get((path, code), []), suppression) for code in suppression.codes)
        if idle and directive.verb != "noqa" and suppression.codes <= enabled:
            yield lint_finding(
                UNUSED,
                directive.span,
                suppression.selector,
                f"`{directive.verb}[{suppression.selector}]` is an unused suppression",
                "none now, but it would hide the next finding on this line",
                _removal(directive, suppression.selector, f"remove {suppression.selector} from the comment"),
            )


def suppressing(path: str, text: str, line: int, code: str, reason: str) -> Edit | None:
    """The edit that silences a rule in the statement on a line; None where no comment can.

    It puts the comment behind the last line of the statement, or the code into the comment that is there.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    lines = text.split("\n")
    last = next((last for first, last in _logical_lines(tokens) if first <= line <= last), None)
    if last is None:
        return None
    for directive in _directives(path, lines, tokens):
        listed = directive.brackets
        if directive.verb == "ignore" and listed is not None and listed.line == last:
            return Edit(listed, f"[{', '.join((*directive.selectors, code))}]")
    end = len(lines[last - 1].rstrip())
    span = Span(path, last, end + 1, last, len(lines[last - 1]) + 1)
    return Edit(span, f"  # dynamo-lint: ignore[{code}] {reason}")


def _has(lines: list[int], suppression: Suppression) -> bool:
    at = bisect_left(lines, suppression.first)
    return at < len(lines) and lines[at] <= suppression.last


def _directives(path: str, lines: Sequence[str], tokens: Iterable[tokenize.TokenInfo]) -> Iterator[Directive]:
    for token in tokens:
        if token.type != tokenize.COMMENT:
            continue
        (line, offset), comment = token.start, token.string
        alone = not lines[line - 1][:offset].strip()
        for match in _DIRECTIVE.finditer(comment):
            verb, brackets = match[1].lower(), match[2]
            # Prose about dynamo-lint is no directive: only brackets or a near miss of a known verb make one.
            addressed = verb in _VERBS or bool(brackets) or closest(verb, _VERBS) is not None
            if verb not in _REGION_VERBS and addressed:
                selectors = tuple(re.split(r"[,\s]+", brackets.strip("[] \t,"))) if brackets else ()
                start, end = offset + match.start(), offset + match.end()
                span = Span(path, line, start + 1, line, end + 1)
                listed = Span(path, line, offset + match.start(2) + 1, line, end + 1) if brackets else None
                whole = _whole(path, lines, line, start, end)
                yield Directive(span, verb, tuple(filter(None, selectors)), alone, listed, whole)
        if noqa := _NOQA.search(comment):
            codes = tuple(code for code in re.split(r"[,\s]+", noqa[1]) if code.upper().startswith("DYN"))
            if codes:
                span = Span(path, line, offset + noqa.start() + 1, line, offset + noqa.end() + 1)
                yield Directive(span, "noqa", codes, alone=False)


def _problem(directive: Directive) -> str | None:
    """Why a directive cannot be obeyed at all."""
    if directive.verb not in (*_VERBS, "noqa"):
        return f"`{directive.verb}` is not a directive; write `ignore[DYN101]` or `file-ignore[DYN101]`"
    if not directive.selectors:
        return f"`{directive.verb}` names no rule; write `{directive.verb}[DYN101]`"
    if len(directive.selectors) > _MOST:
        named = f"`{directive.verb}` names {len(directive.selectors)} rules"
        return f"{named}, more than there are; write `DYN1` for a group of them"
    for selector in directive.selectors:
        if selector.upper() in ("ALL", "D", "DY", "DYN"):
            return f"`{directive.verb}[{selector}]` would silence every rule; list the rules to silence"
    return None


def _unknown(directive: Directive, problem: str, selector: str | None = None) -> Finding:
    return lint_finding(
        "DYN904",
        directive.span,
        selector or ",".join(directive.selectors[:_MOST]),
        problem,
        "none: the comment has no effect",
        _removal(directive, selector, "name an existing rule, or remove the comment"),
    )


def _removal(directive: Directive, selector: str | None, message: str) -> Fix:
    """Take one selector out of a comment, or the comment where nothing else is left in it."""
    left = [other for other in directive.selectors if other != selector]
    if selector is not None and left and directive.brackets is not None:
        return Fix("safe", message, (Edit(directive.brackets, f"[{', '.join(left)}]"),))
    return Fix("safe", message, (Edit(directive.whole, ""),) if directive.whole is not None else ())


def _whole(path: str, lines: Sequence[str], line: int, start: int, end: int) -> Span:
    """The stretch of a directive with its reason: up to another comment, or with the blanks before it."""
    text = lines[line - 1]
    if following := _NEXT.search(text, end):
        return Span(path, line, start + 1, line, following.start() + 2)
    before = len(text[:start].rstrip())
    if before:
        return Span(path, line, before + 1, line, len(text) + 1)
    if line < len(lines):
        return Span(path, line, 1, line + 1, 1)
    return Span(path, line, 1, line, len(text) + 1)


def _logical_lines(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[int, int]]:
    quiet = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    first = None
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            if first is not None:
                yield first, token.start[0]
            first = None
        elif first is None and token.type not in quiet:
            first = token.start[0]


def _bodies(tree: ast.Module) -> dict[int, int]:
    ends: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for line in (node.lineno, *(decorator.lineno for decorator in node.decorator_list)):
                ends[line] = node.end_lineno or line
    return ends
