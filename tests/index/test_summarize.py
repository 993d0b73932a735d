"""The index: one file in, plain facts out, whatever the file looks like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_lint.index import ir
from dynamo_lint.index.modules import module_name
from dynamo_lint.index.summarize import summarize
from tests.programs import HEADER, facts_of


def one(source: str, region_comment: str | None = None) -> ir.FileFacts:
    return facts_of({"m.py": source}, region_comment)["m.py"]


def test_property_getter_and_setter_are_two_functions_with_one_qualname() -> None:
    file = one("""
        class A:
            @property
            def x(self): return self._x
            @x.setter
            def x(self, v): self._x = v
    """)
    assert {"A.x", "A.x@setter"} <= set(file.functions)
    assert file.functions["A.x@setter"].qualname == "A.x"
    assert [b.value for b in file.classes["A"].bindings] == [ir.Definition("A.x")]


def test_a_name_defined_twice_keeps_both_definitions() -> None:
    file = one("""
        if torch.cuda.is_available():
            def f(): return 1
        else:
            def f(): return 2
    """)
    assert {"f", "f#2"} <= set(file.functions)


def test_qualnames_of_nested_functions_are_pythons_own() -> None:
    file = one("""
        def outer():
            def inner(): ...
            return lambda: inner()
    """)
    assert {"outer", "outer.<locals>.inner", "outer.<locals>.<lambda>"} <= set(file.functions)


@pytest.mark.parametrize(
    "test",
    [
        "not torch.compiler.is_compiling()",
        "not torch._dynamo.is_compiling()",
        "not is_compiling() and x is not None",
        "torch.jit.is_scripting()",
        "False",
    ],
)
def test_a_branch_that_needs_eager_mode_is_eager(test: str) -> None:
    function = one(f"""
        def f(x):
            if {test}:
                log(x)
            return g(x)
    """).functions["f"]
    eager = {site.call.function: site.eager for site in function.calls}
    assert eager[ir.Name("log")]
    assert not eager[ir.Name("g")]
    assert function.eager_lines == ((6, 6),)


@pytest.mark.parametrize(
    "test", ["torch.compiler.is_compiling() or x", "x", "not x", "self.training", "is_compiling"]
)
def test_a_branch_that_may_run_compiled_is_not_eager(test: str) -> None:
    function = one(f"""
        def f(self, x):
            if {test}:
                log(x)
    """).functions["f"]
    assert not any(site.eager for site in function.calls)


def test_code_after_an_early_return_when_compiling_is_eager() -> None:
    function = one("""
        def f(x):
            if torch.compiler.is_compiling():
                return g(x)
            log(x)
            return x
    """).functions["f"]
    assert function.eager_lines == ((7, 8),)
    assert {s.call.function for s in function.calls if s.eager} == {ir.Name("log")}


def test_the_else_of_is_compiling_through_a_local_alias_is_eager() -> None:
    function = one("""
        def f(x):
            compiling = torch.compiler.is_compiling()
            if compiling:
                g(x)
            else:
                log(x)
    """).functions["f"]
    assert {s.call.function for s in function.calls if s.eager} == {ir.Name("log")}


def test_an_alias_that_is_rebound_is_no_alias_any_more() -> None:
    function = one("""
        def f(x):
            compiling = torch.compiler.is_compiling()
            compiling = x.any()
            if not compiling:
                log(x)
    """).functions["f"]
    assert not any(site.eager for site in function.calls)


def test_appends_and_registered_modules_are_stores() -> None:
    function = one("""
        class A(nn.Module):
            def __init__(self):
                self.layers = nn.ModuleList()
                self.layers.append(B())
                self.add_module("head", C())
                setattr(self, "tail", D())
    """).functions["A.__init__"]
    assert [(s.name, getattr(s.value, "function", None)) for s in function.stores] == [
        ("layers", ir.Attribute(ir.Name("nn"), "ModuleList")),
        (ir.ITEM, ir.Name("B")),
        ("head", ir.Name("C")),
        ("tail", ir.Name("D")),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "import os; v = os.environ['K']",
        "from os import environ as env; v = env.get('K')",
        "from os import getenv; v = getenv('K')",
    ],
)
def test_reading_the_environment_is_noted_under_any_import(line: str) -> None:
    head, _, read = line.partition("; ")
    file = one(f"{head}\ndef f():\n    {read}\n")
    assert file.functions["f"].environment


def test_a_function_that_never_mentions_the_environment_is_not_noted() -> None:
    assert not one("def f(env):\n    return env['K']\n").functions["f"].environment


def test_a_condition_is_kept_for_calls_that_compile_and_negated_in_the_else() -> None:
    function = one("""
        def f(m, cfg):
            if cfg.eager:
                pass
            else:
                m = torch.compile(m)
    """).functions["f"]
    assert [s.condition for s in function.calls] == ["not cfg.eager"]


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("# dynamo-lint: region\nclass A:\n    x = 1\n", "A"),
        ("class A:  # dynamo-lint: region\n    x = 1\n", "A"),
        ("class A:\n    # dynamo-lint: region\n    def f(self): ...\n", "A"),
        ('class A:\n    """Doc."""\n\n    # dynamo-lint: region\n    def f(self): ...\n', "A.f"),
        ("def f():\n    # dynamo-lint: region\n    return 1\n", "f"),
        ("x = 1  # dynamo-lint: region\n\n\ndef f(): ...\n", None),
    ],
)
def test_a_region_comment_marks_the_definition_it_stands_at(source: str, key: str | None) -> None:
    assert [(m.kind, m.key) for m in one(source).markers] == [("region", key)]


def test_a_projects_own_comment_can_be_the_marker() -> None:
    file = one(
        "# regional_compile region: keep free of Python state\nclass A:\n    x = 1\n",
        "regional_compile region",
    )
    assert [m.key for m in file.markers] == ["A"]


BLOCK = """
def before(): ...
# dynamo-lint: region-begin
class A:
    def forward(self): ...
def f(): ...
# dynamo-lint: region-end
def after(): ...
"""


def test_region_begin_and_end_mark_the_outermost_definitions_between_them() -> None:
    begin = HEADER.count("\n") + 3
    marked = [("region", "A", begin), ("region", "f", begin)]
    assert [(m.kind, m.key, m.line) for m in one(BLOCK).markers] == marked


def test_region_begin_inside_a_class_marks_methods_and_not_the_class() -> None:
    source = (
        "class A:\n    # dynamo-lint: region-begin\n    def f(self): ...\n    # dynamo-lint: region-end\n"
    )
    assert [m.key for m in one(source + "    def g(self): ...\n").markers] == ["A.f"]


def test_a_definition_that_is_only_half_between_begin_and_end_is_not_marked() -> None:
    source = "def f():\n    # dynamo-lint: region-begin\n    x = 1\ndef g(): ...\n# dynamo-lint: region-end\n"
    assert [m.key for m in one(source).markers] == ["g"]


@pytest.mark.parametrize("kind", ["region-begin", "region-end"])
def test_half_a_pair_of_markers_marks_nothing_and_is_kept_to_be_reported(kind: str) -> None:
    assert [(m.kind, m.key) for m in one(f"# dynamo-lint: {kind}\ndef f(): ...\n").markers] == [(kind, None)]


def test_a_marker_inside_a_string_is_text() -> None:
    assert one('def f():\n    return "# dynamo-lint: region"\n').markers == ()


@pytest.mark.parametrize(
    ("source", "word"),
    [
        (b"def f(:\n", "syntax"),
        (b"\xff\xfe\x00", ""),
        (b"x = 1\x00", "null"),
        (b"# -*- coding: no-such-codec -*-\n", "encoding"),
        (b"x = '\xe9'\n", "utf-8"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(source: bytes, word: str) -> None:
    file = summarize("m.py", "m", False, source)
    assert file.error is not None
    assert word in file.error[1].lower()


def test_deep_nesting_ends_and_long_sums_are_read() -> None:
    deep = summarize("m.py", "m", False, b"x = " + b"(" * 5000 + b")" * 5000)
    assert deep.error is not None
    attributes = summarize("m.py", "m", False, b"x = a" + b".b" * 20000)
    assert attributes.error is None or "deep" in attributes.error[1]
    long = summarize("m.py", "m", False, b"x = f()" + b" + g()" * 900)
    assert long.error is None
    assert len(long.functions["<module>"].calls) == 901


def test_long_elif_chains_are_read() -> None:
    source = "if a:\n    f()\n" + "".join(f"elif a == {i}:\n    f()\n" for i in range(900))
    file = summarize("m.py", "m", False, source.encode())
    assert file.error is None
    assert len(file.functions["<module>"].calls) == 901


@given(st.binary(max_size=200))
def test_any_bytes_give_facts_or_an_error(source: bytes) -> None:
    file = summarize("m.py", "m", False, source)
    assert file.error is not None or ir.MODULE_KEY in file.functions


@given(st.text(alphabet="abx01 .,=()[]{}:*@#'\"\n\t\\", max_size=120))
def test_any_text_of_python_tokens_gives_facts_or_an_error(source: str) -> None:
    file = summarize("m.py", "m", False, source.encode())
    assert file.error is not None or ir.MODULE_KEY in file.functions


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("train.py", ("train", False)),
        ("pkg/a.py", ("pkg.a", False)),
        ("pkg/sub/b.py", ("pkg.sub.b", False)),
        ("pkg/__init__.py", ("pkg", True)),
        ("scripts/run.py", ("run", False)),
        ("src/pkg2/c.py", ("pkg2.c", False)),
    ],
)
def test_module_names_follow_the_package_folders(path: str, expected: tuple[str, bool]) -> None:
    assert module_name(path, {"pkg", "pkg/sub", "src/pkg2"}) == expected
