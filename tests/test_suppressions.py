"""What a suppression comment covers, and what it does not."""

from __future__ import annotations

from textwrap import dedent

import pytest

from dynamo_lint import selectors, suppressions
from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.fixes.bytes import apply

CATALOGUE = {
    "DYN101": "mutated-scalar-attribute",
    "DYN103": "none-or-tensor-attribute",
    "DYN201": "environment-read",
    "DYN903": "unused-suppression",
}


def finding(line: int, code: str = "DYN101", path: str = "a.py") -> Finding:
    return Finding(
        code=code,
        name=CATALOGUE[code],
        span=Span(path, line, 1, line, 2),
        message="",
        cost="",
        severity="error",
        effect="storm",
        confidence="certain",
        symbol="",
        subject="",
    )


def silenced(source: str, code: str = "DYN101") -> list[int]:
    """The lines on which a finding of `code` would be silenced."""
    text = dedent(source)
    comments, _ = suppressions.read("a.py", text, CATALOGUE)
    lines = range(1, text.count("\n") + 1)
    return [one.span.line for one in suppressions.covered((finding(line, code) for line in lines), comments)]


def unknown(source: str) -> list[str]:
    return [found.message for found in suppressions.read("a.py", dedent(source), CATALOGUE)[1]]


@pytest.mark.parametrize(
    "comment",
    [
        "# dynamo-lint: ignore[DYN101] counted on purpose",
        "# dynamo-lint: ignore[DYN201, DYN101]",
        "# dynamo-lint: ignore[DYN1]",
        "# dynamo-lint: ignore[mutated-scalar-attribute]",
        "# type: ignore # dynamo-lint: ignore[DYN101]",
        "# noqa: DYN101",
        "# noqa: E501, DYN101",
        "# NOQA:dyn101 and why",
    ],
)
def test_trailing_comment_covers_its_line_and_no_other(comment: str) -> None:
    assert silenced(f"a = 1\nself.n += 1  {comment}\nb = 1\n") == [2]


@pytest.mark.parametrize(
    "comment",
    [
        "# dynamo-lint: ignore[DYN103]",
        "# dynamo-lint: region",
        "# dynamo-lint: ignore",
        "# dynamo-lint: ignore[]",
        "# dynamo-lint: ignore[ALL]",
        "# dynamo-lint: ignore[DYN]",
        "# noqa",
        "# noqa: E501",
        "# ruff: ignore[DYN101]",
    ],
)
def test_comment_for_another_rule_tool_or_purpose_silences_nothing(comment: str) -> None:
    assert silenced(f"self.n += 1  {comment}\n") == []


def test_directive_in_a_string_is_text() -> None:
    assert silenced('self.n = "# dynamo-lint: ignore[DYN101]"\n') == []
    assert silenced('"""\n# dynamo-lint: file-ignore[DYN101]\n"""\nself.n += 1\n') == []


def test_comment_on_first_or_last_line_covers_the_whole_statement() -> None:
    first = "self.n = f(  # dynamo-lint: ignore[DYN101]\n    1,\n    2,\n)\nx = 1\n"
    last = "self.n = f(\n    1,\n    2,\n)  # dynamo-lint: ignore[DYN101]\nx = 1\n"
    assert silenced(first) == silenced(last) == [1, 2, 3, 4]


def test_comment_in_the_middle_of_a_statement_covers_its_own_line() -> None:
    assert silenced("self.n = f(\n    g(),  # dynamo-lint: ignore[DYN101]\n    2,\n)\n") == [2]


def test_comment_after_a_multi_line_string_covers_the_statement() -> None:
    assert silenced('x = """\ntext\n"""  # dynamo-lint: ignore[DYN101]\ny = 1\n') == [1, 2, 3]


def test_comment_on_its_own_line_covers_the_next_statement_only() -> None:
    source = """\
        # dynamo-lint: ignore[DYN101] the reason
        # goes on here

        self.n = (
            1
        )
        self.m += 1
        """
    assert silenced(source) == [4, 5, 6]


def test_comment_above_a_def_or_its_decorators_covers_the_body() -> None:
    source = """\
        x = 1
        # dynamo-lint: ignore[DYN101]
        @torch.compile(
            dynamic=True
        )
        def forward(self):
            self.n += 1

            return 1
        y = 1
        """
    assert silenced(source) == [3, 4, 5, 6, 7, 8, 9]


def test_comment_between_decorator_and_def_covers_the_body() -> None:
    source = "@torch.compile\n# dynamo-lint: ignore[DYN101]\ndef f(self):\n    self.n += 1\ny = 1\n"
    assert silenced(source) == [3, 4]


def test_comment_above_a_class_covers_its_methods() -> None:
    source = "# dynamo-lint: ignore[DYN101]\nclass A:\n    def f(self):\n        self.n += 1\ny = 1\n"
    assert silenced(source) == [2, 3, 4]


def test_what_a_comment_covers_goes_on_behind_a_shorter_one_inside() -> None:
    source = """\
        # dynamo-lint: ignore[DYN101]
        def f(x):
            a = 1  # dynamo-lint: ignore[DYN101]
            return x
        b = 2
    """
    assert silenced(source) == [2, 3, 4]


def test_comment_behind_a_def_covers_the_header_only() -> None:
    source = "def f(self):  # dynamo-lint: ignore[DYN101]\n    self.n += 1\n"
    assert silenced(source) == [1]


def test_comment_first_in_a_body_covers_its_first_statement_only() -> None:
    source = "def f(self):\n    # dynamo-lint: ignore[DYN101]\n    self.n += 1\n    self.m += 1\n"
    assert silenced(source) == [3]


def test_comment_above_an_if_covers_its_condition_only() -> None:
    source = "# dynamo-lint: ignore[DYN101]\nif (a and\n        b):\n    self.n += 1\n"
    assert silenced(source) == [2, 3]


def test_comment_at_the_end_of_a_file_covers_nothing_that_exists() -> None:
    assert silenced("self.n += 1\n# dynamo-lint: ignore[DYN101]\n") == [2]


def test_file_ignore_covers_all_lines_wherever_it_stands() -> None:
    assert silenced("a = 1\nb = 2  # dynamo-lint: file-ignore[DYN101]\nc = 3\n") == [1, 2, 3]


def test_other_files_and_other_rules_are_not_covered() -> None:
    ((comment,), _) = suppressions.read("a.py", "a = 1  # dynamo-lint: file-ignore[DYN101]\n", CATALOGUE)
    others = (finding(1, path="b.py"), finding(1, code="DYN103"))
    assert not suppressions.covered(others, (comment,))


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# dynamo-lint: ignore[DYN11]", "no rule is named 'DYN11'; did you mean 'DYN101'?"),
        ("# dynamo-lint: ignore[environment-reads]", "did you mean 'environment-read'?"),
        ("# dynamo-lint: ignore", "`ignore` names no rule; write `ignore[DYN101]`"),
        ("# dynamo-lint: ignore[ALL]", "would silence every rule"),
        (f"# dynamo-lint: ignore[{'DYN101,' * 201}]", "names 201 rules, more than there are"),
        (f"# noqa: {','.join(f'DYN{i}' for i in range(5000))}", "names 5000 rules, more than there are"),
        ("# dynamo-lint: disable[DYN101]", "`disable` is not a directive"),
        ("# dynamo-lint: ingore", "`ingore` is not a directive"),
    ],
)
def test_directive_that_names_no_rule_is_a_finding(comment: str, message: str) -> None:
    (found,) = unknown(f"x = 1  {comment}\n")
    assert message in found


@pytest.mark.parametrize(
    "comment",
    [
        "# dynamo-lint: region",
        "# dynamo-lint: eager",
        "# dynamo-lint: this project is linted with it",
        "# noqa: DYN999",
        "# see the docs of dynamo-lint",
    ],
)
def test_other_mentions_are_no_findings(comment: str) -> None:
    assert unknown(f"x = 1  {comment}\n") == []


def test_what_was_meant_by_a_code_of_others_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    def guess(*_: object) -> None:
        raise AssertionError("a guess takes a millisecond, and nobody reads this one")

    monkeypatch.setattr(selectors, "closest", guess)
    assert unknown("x = 1  # noqa: DYN999\n") == []


def unused(comment: str, *findings: Finding, enabled: str = "DYN101 DYN103 DYN201") -> list[str]:
    comments, _ = suppressions.read("a.py", f"x = 1  {comment}\n", CATALOGUE)
    return [
        found.message
        for found in suppressions.unused(
            comments, suppressions.lines_of(findings), frozenset(enabled.split())
        )
    ]


def test_directive_that_silences_nothing_is_a_finding_per_selector() -> None:
    comment = "# dynamo-lint: ignore[DYN101, DYN2]"
    assert unused(comment, finding(1)) == ["`ignore[DYN2]` is an unused suppression"]


def test_used_directives_noqa_and_rules_that_are_off_are_not_called_unused() -> None:
    assert unused("# dynamo-lint: ignore[DYN101]", finding(1)) == []
    assert unused("# dynamo-lint: file-ignore[DYN1]", finding(1, "DYN103")) == []
    assert unused("# noqa: DYN101") == []
    assert unused("# dynamo-lint: ignore[DYN101]", enabled="DYN201") == []


def test_unused_finding_stands_at_the_comment() -> None:
    comments, _ = suppressions.read("a.py", "x = '名'  # dynamo-lint: ignore[DYN101]\n", CATALOGUE)
    (found,) = suppressions.unused(comments, {}, frozenset(CATALOGUE))
    assert found.span == Span("a.py", 1, 10, 1, 39)


def applied(source: str, found: Finding) -> str:
    """The source after the edits of a finding's fix."""
    assert found.fix is not None
    assert found.fix.applicability == "safe"
    offsets = [0]
    for text in source.split("\n"):
        offsets.append(offsets[-1] + len(text) + 1)
    for edit in found.fix.edits:
        start = offsets[edit.span.line - 1] + edit.span.column - 1
        end = offsets[edit.span.end_line - 1] + edit.span.end_column - 1
        source = source[:start] + edit.replacement + source[end:]
    return source


def repaired(source: str) -> str:
    """The source after the first idle directive was repaired, until none is left."""
    while True:
        comments, idle = suppressions.read("a.py", source, CATALOGUE)
        idle += tuple(suppressions.unused(comments, {}, frozenset(CATALOGUE)))
        if not idle:
            return source
        source = applied(source, idle[0])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # dynamo-lint: ignore[DYN101] reason\n", "x = 1\n"),
        ("x = 1  # dynamo-lint: ignore[DYN101, DYN2]  \n", "x = 1\n"),
        ("x = 1  # dynamo-lint: ignore[DYN777]", "x = 1"),
        ("x = 1  # dynamo-lint: ignore see #12\n", "x = 1\n"),
        ("a = 1\n    # dynamo-lint: file-ignore[DYN101]\nx = 1\n", "a = 1\nx = 1\n"),
        ("x = 1\n# dynamo-lint: ingore[DYN101]", "x = 1\n"),
        ("x = '名'  # type: int # dynamo-lint: ignore[DYN101]\n", "x = '名'  # type: int\n"),
        ("x = 1  # dynamo-lint: ignore[DYN101] # fmt: skip\n", "x = 1  # fmt: skip\n"),
        ("# dynamo-lint: ignore[DYN101] # fmt: off\nx = 1\n", "# fmt: off\nx = 1\n"),
    ],
)
def test_idle_directive_is_taken_out_and_nothing_else(before: str, after: str) -> None:
    assert repaired(before) == after


def test_used_selector_stays_where_an_idle_one_is_taken_out() -> None:
    source = "x = 1  # dynamo-lint: ignore[DYN2, DYN101,DYN777] counted\n"
    comments, unknown = suppressions.read("a.py", source, CATALOGUE)
    idle = list(suppressions.unused(comments, suppressions.lines_of([finding(1)]), frozenset(CATALOGUE)))
    assert applied(source, idle[0]) == "x = 1  # dynamo-lint: ignore[DYN101, DYN777] counted\n"
    assert applied(source, unknown[0]) == "x = 1  # dynamo-lint: ignore[DYN2, DYN101] counted\n"


def test_nothing_is_taken_out_for_a_comment_of_others() -> None:
    for source in (
        "x = 1  # noqa: DYN101\n",
        "x = 1  # dynamo-lint: region\n",
        "x = 1  # dynamo-lint is fine\n",
    ):
        assert repaired(source) == source


def test_fix_of_an_idle_directive_is_one_edit_in_its_own_line() -> None:
    (found,) = suppressions.read("a.py", "x = 1  # dynamo-lint: ignore[DYN11]\n", CATALOGUE)[1]
    assert found.fix == Fix(
        "safe", "name an existing rule, or remove the comment", (Edit(Span("a.py", 1, 6, 1, 36), ""),)
    )


@pytest.mark.parametrize(
    ("text", "line", "silenced"),
    [
        ("x = 1\n", 1, "x = 1  # dynamo-lint: ignore[DYN101] why\n"),
        ("x = f(\n    1,\n)\n", 2, "x = f(\n    1,\n)  # dynamo-lint: ignore[DYN101] why\n"),
        ('x = """\na\n"""\n', 1, 'x = """\na\n"""  # dynamo-lint: ignore[DYN101] why\n'),
        ("x = 1  # kept\n", 1, "x = 1  # kept  # dynamo-lint: ignore[DYN101] why\n"),
        (
            "x = 1  # dynamo-lint: ignore[DYN2] because\n",
            1,
            "x = 1  # dynamo-lint: ignore[DYN2, DYN101] because\n",
        ),
        (
            "def f(\n    a,\n):\n    pass\n",
            1,
            "def f(\n    a,\n):  # dynamo-lint: ignore[DYN101] why\n    pass\n",
        ),
        ("x = (\n", 1, None),
        ("# only a comment\n", 1, None),
    ],
)
def test_a_comment_that_silences_a_rule_is_put_where_it_covers_the_statement(
    text: str, line: int, silenced: str | None
) -> None:
    edit = suppressions.suppressing("a.py", text, line, "DYN101", "why")
    assert (None if edit is None else apply(text.encode(), [edit]).decode()) == silenced
    if silenced is not None:
        (*_, made), _ = suppressions.read("a.py", silenced, CATALOGUE)
        assert made.first <= line <= made.last
