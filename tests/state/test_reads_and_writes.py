"""The state pass: spans opened alone, kinds, places, and what a function summary says of its reads and writes."""

import subprocess
import sys
import textwrap

import pytest

from dynamo_lint.index.ir import Attribute, Choice, Constant, Name, Subscript
from dynamo_lint.index.summarize import summarize
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.state import arguments
from dynamo_lint.state import kinds as K
from dynamo_lint.state.model import Kind, Use
from dynamo_lint.state.provenance import Tables
from dynamo_lint.state.source import open_function
from dynamo_lint.state.tables import build


def tables(body: str) -> Tables:
    """The tables of one compiled module, given the body of its class."""
    source = "import torch\nfrom torch import nn\n\nclass M(nn.Module):\n"
    source += textwrap.indent(textwrap.dedent(body), "    ") + "\ncompiled = torch.compile(M())\n"
    files = {"m.py": summarize("m.py", "m", False, source.encode())}
    project, regions = resolve(files, RegionOptions())
    return build(project, regions, lambda path, *_: source)


def uses(body: str, attribute: str) -> set[Use]:
    """How hot code uses what an earlier call left in an attribute."""
    return {
        read.use
        for state in tables(body).attributes
        if state.key.attribute == attribute
        for read in state.reads
    }


def opened(source: str, key: str):
    return open_function(
        source, summarize("m.py", "m", False, source.encode()).functions[key], lambda: source
    )


# --- spans ----------------------------------------------------------------------------------------------

METHOD = '''class A:
    """A."""

    @property
    def n(self):
        text = """
not indented
"""
        self.x = 1
        return text
'''


def test_positions_of_an_indented_method_are_those_of_its_file():
    span = opened(METHOD, "A.n")
    assign = span.definition.body.body[1]
    assert (span.position(assign).line, span.position(assign).column) == (9, 9)


def test_only_the_span_is_parsed():
    assert opened(METHOD, "A.n").module.code.startswith("if 1:\n    @property")


def test_carriage_returns_do_not_shift_lines():
    source = METHOD.replace("\n", "\r\n")
    span = opened(source, "A.n")
    assert span.position(span.definition.body.body[1]).line == 9


def test_a_method_indented_by_tabs_is_opened():
    span = opened("class A:\n\tdef f(self):\n\t\tself.n = 1\n", "A.f")
    assert span.position(span.definition.body.body[0]).column == 3


def test_a_function_with_its_body_on_the_same_line_is_opened():
    source = "if True:\n  class A:\n    x = 1\n    def f(self): self.n = 1\n"
    span = opened(source, "A.f")
    assert span.position(span.definition.name).line == 4


def test_a_span_that_changed_since_it_was_indexed_is_skipped():
    function = summarize("m.py", "m", False, METHOD.encode()).functions["A.n"]
    assert open_function("(", function, lambda: "(") is None
    assert open_function("", function, lambda: "") is None


def test_a_lambda_is_not_looked_for_in_its_whole_file():
    # Nor is it taken for the function that begins on its line.
    assert opened("def f(x): return map(lambda y: y.a, x)\n", "f.<locals>.<lambda>") is None


def test_a_project_without_candidates_never_imports_libcst():
    program = textwrap.dedent(
        """
        import sys
        from dynamo_lint.index.summarize import summarize
        from dynamo_lint.regions.options import RegionOptions
        from dynamo_lint.regions.resolve import resolve
        from dynamo_lint.rules import Context, judge
        from dynamo_lint.state.tables import build
        source = "import torch\\n@torch.compile\\ndef f(x):\\n    return x * 2\\n"
        project, regions = resolve({"m.py": summarize("m.py", "m", False, source.encode())}, RegionOptions())
        assert regions.hot
        assert judge(build(project, regions, lambda path, *_: source), Context()) == []
        assert "libcst" not in sys.modules
        assert "torch" not in sys.modules
        """
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# --- kinds ----------------------------------------------------------------------------------------------

INT, FLOAT, TENSOR = frozenset({Kind.INT}), frozenset({Kind.FLOAT}), frozenset({Kind.TENSOR})


def opened_functions(source: str) -> set[str]:
    """The hot functions that the state pass opens."""
    files = {"m.py": summarize("m.py", "m", False, textwrap.dedent(source).encode())}
    project, regions = resolve(files, RegionOptions())
    return {
        hot.function.key
        for hot, _ in build(project, regions, lambda path, *_: textwrap.dedent(source)).functions
    }


LOOPED = """
import torch

TOTAL = 0

def other(xs):
    for x in xs:
        x = x + 1
    return xs

def count():
    global TOTAL
    TOTAL += 1

@torch.compile
def step(x):
    return x + {added}
"""


def test_a_local_is_not_the_name_that_a_loop_of_another_function_rebinds():
    assert opened_functions(LOOPED.format(added=1)) == set()


def test_a_global_that_some_function_rebinds_is_looked_at():
    assert opened_functions(LOOPED.format(added="TOTAL")) == {"step"}


HANDED_ON = """
import torch
from torch import nn

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        y = {call}
        self.n += 1
        return y

def scaled(x, by):
    return x * by

compiled = torch.compile(M())
"""


def test_a_function_that_is_handed_changing_state_is_opened():
    assert "scaled" in opened_functions(HANDED_ON.format(call="scaled(x, self.n)"))


def test_a_function_that_is_handed_only_tensors_is_not_opened():
    assert opened_functions(HANDED_ON.format(call="scaled(x, x)")) == {"M.forward"}


def test_a_tensor_wins_and_division_makes_floats():
    assert K.of_arithmetic(INT, TENSOR, division=False) == TENSOR
    assert K.of_arithmetic(INT, INT, division=True) == FLOAT
    assert K.of_arithmetic(INT, INT, division=False) == INT


def test_arithmetic_with_an_unknown_is_unknown():
    assert K.of_arithmetic(INT, K.UNKNOWN, division=False) == K.UNKNOWN


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Name("int"), INT),
        (Attribute(Name("torch"), "Tensor"), TENSOR),
        (Subscript(Name("Optional"), Name("int")), INT | {Kind.NONE}),
        (Choice((Name("Tensor"), Constant(None))), TENSOR | {Kind.NONE}),
        (Choice((Name("int"), Name("Thing"))), K.UNKNOWN),
        (Name("Thing"), K.UNKNOWN),
    ],
)
def test_annotations_say_what_they_say_and_no_more(annotation, expected):
    assert K.of_annotation(annotation) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int | None", INT | {Kind.NONE}),
        ("Optional[torch.Tensor]", TENSOR | {Kind.NONE}),
        ("'torch.Tensor'", TENSOR),
        ("list[int]", frozenset({Kind.CONTAINER})),
        ("Thing | int", K.UNKNOWN),
    ],
)
def test_annotations_are_understood_as_text_too(text, expected):
    assert K.of_annotation_text(text) == expected


def test_torch_functions_give_tensors_except_the_known_ones():
    assert K.of_call("torch.relu") == TENSOR
    assert K.of_call("torch.nn.functional.relu") == TENSOR
    assert K.of_call("torch.is_tensor") == {Kind.BOOL}
    assert K.of_call("torch.get_default_dtype") == K.UNKNOWN
    assert K.of_call("somewhere.relu") == K.UNKNOWN


# --- uses -----------------------------------------------------------------------------------------------

INIT = """
def __init__(self):
    super().__init__()
    self.n = 0

"""


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("y = x * self.n", Use.TENSOR_MATH),
        ("y = x ** self.n", Use.POWER),
        ("y = x[self.n]", Use.INDEX),
        ("y = torch.full((2,), self.n)", Use.ARGUMENT),
        ("y = x if self.n else x + 1", Use.CONTROL),
        ("y = x if self.n == 2 else x + 1", Use.COMPARE),
        ("y = x if self.n is None else x + 1", Use.NONE_TEST),
        ("y = f'{self.n}'", Use.FORMATTED),
        ("y = [self.n]", Use.STORED),
        ("for _ in range(self.n): x = x + 1", Use.ITERATED),
        ("assert self.n", Use.CONTROL),
        ("if x.dim(): return self.n", Use.RETURNED),
    ],
)
def test_a_read_is_recorded_where_it_is_consumed(statement, use):
    assert use in uses(INIT + f"def forward(self, x):\n    {statement}\n    self.n = 2\n", "n")


@pytest.mark.parametrize(
    "statement",
    [
        "_ = self.n",
        "y = self.n",
        "self.n",
        "raise ValueError(f'{self.n}')",
        "assert self.n is not None",
        "if torch.jit.is_scripting(): x = x * self.n",
        "if not torch.compiler.is_compiling(): x = x * self.n",
        "self.n = 3; x = x * self.n",
        "self.n = 3\n    for i in range(2): x = x * self.n",
        "y = self.n; y = 2; x = x * y",
    ],
)
def test_what_nothing_consumes_is_not_read(statement):
    assert (
        uses(INIT + f"def forward(self, x):\n    {statement}\n    self.n = 2\n    return x\n", "n") == set()
    )


def test_a_write_in_a_loop_that_may_not_run_does_not_hide_a_later_read():
    body = INIT + "def forward(self, x, k: int):\n    for i in range(k): self.n = 3\n    return x * self.n\n"
    assert uses(body, "n") == {Use.TENSOR_MATH}


def test_a_write_in_a_try_is_not_certain_behind_its_handler():
    body = (
        INIT
        + """
def forward(self, x):
    try:
        self.n = x.shape[0]
    except ValueError:
        pass
    return x * self.n
"""
    )
    assert uses(body, "n") == {Use.TENSOR_MATH}


def test_a_helper_that_is_also_called_before_the_write_reads_state():
    body = (
        INIT
        + """
def helper(self, x):
    return x * self.n

def forward(self, x):
    x = self.helper(x)
    self.n = x.shape[0]
    return self.helper(x)
"""
    )
    assert uses(body, "n") == {Use.TENSOR_MATH}


def test_recursion_ends():
    body = INIT + "def forward(self, x):\n    self.n += 1\n    return self.forward(x) if self.n < 3 else x\n"
    assert Use.COMPARE in uses(body, "n")


# --- the code around the regions ------------------------------------------------------------------------

STRANGER = """\
import math
import torch
from torch import nn

class Row:
    def __init__(self, cells):
        self.cells = cells
        self.names = {}

    def get(self, name):
        return self.names.get(name, math.floor(len(self.cells) / 2))

class Head(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)
        self.table = nn.ModuleList([nn.Linear(dim, dim) for _ in range(2)])

    def forward(self, x):
        return torch.relu(self.drop(self.proj(x)).reshape(-1))

def collect(rows):
    head = Head(3)
    return [head.proj(row.get("a")) for row in rows]
"""
DRIVER = """\
import torch

def step(x, n):
    return x * n

class Trainer:
    def __init__(self):
        self.run = torch.compile(step)

    def fit(self, batches):
        for number, batch in enumerate(batches):
            self.run(batch, number)
"""


def asked_about(monkeypatch: pytest.MonkeyPatch, sources: dict[str, str]) -> tuple[set[str], Tables]:
    """The callees that are evaluated to see what is passed to compiled code."""
    asked = set()
    really = arguments.glimpse

    def glimpse(project, expr, scope):
        asked.add(f"{scope.function.id} {getattr(expr, 'name', getattr(expr, 'id', expr))}")
        return really(project, expr, scope)

    monkeypatch.setattr(arguments, "glimpse", glimpse)
    files = {path: summarize(path, path[:-3], False, text.encode()) for path, text in sources.items()}
    project, regions = resolve(files, RegionOptions())
    return asked, build(project, regions, lambda path, *_: sources[path])


def test_functions_that_call_nothing_compiled_are_never_evaluated(monkeypatch: pytest.MonkeyPatch):
    strangers = {f"stranger{number}.py": STRANGER for number in range(5)}
    asked, found = asked_about(monkeypatch, {**strangers, "driver.py": DRIVER})
    assert asked == {"driver.py::Trainer.fit run"}
    assert [(one.hot.function.key, one.name) for one in found.passed] == [("step", "n")]


@pytest.mark.parametrize(
    "how",
    [
        "run = torch.compile(step)\ndef fit(bs):\n    for n, b in enumerate(bs):\n        run(b, n)",
        "@torch.compile\ndef run(x, n):\n    return x * n\n"
        "def fit(bs):\n    for n, b in enumerate(bs):\n        run(b, n)",
        "def fit(bs, run=None):\n    run = torch.compile(step)\n    for n, b in enumerate(bs):\n        run(b, n)",
        "def go(f, bs):\n    for n, b in enumerate(bs):\n        f(b, n)\ndef fit(bs):\n    go(torch.compile(step), bs)",
        "def make():\n    return torch.compile(step)\n"
        "def fit(bs):\n    run = make()\n    for n, b in enumerate(bs):\n        run(b, n)",
        "class T:\n    def __init__(self, run):\n        self.run = run\n    def fit(self, bs):\n"
        "        for n, b in enumerate(bs):\n            self.run(b, n)\nT(torch.compile(step)).fit([])",
        "fs = {'a': torch.compile(step)}\ndef fit(bs):\n    for n, b in enumerate(bs):\n        fs['a'](b, n)",
        "class M(torch.nn.Module):\n    def forward(self, x, n):\n        return x * n\n"
        "m = M()\nm.compile()\ndef fit(bs):\n    for n, b in enumerate(bs):\n        m(b, n)",
        "class M(torch.nn.Module):\n    def forward(self, x, n):\n        return x * n\n"
        "def fit(bs, m: M):\n    m = torch.compile(m)\n    for n, b in enumerate(bs):\n        m(b, n)",
        "class M(torch.nn.Module):\n    def forward(self, x, n):\n        return x * n\n"
        "class T:\n    m: M\n    def fit(self, bs):\n        self.m.compile()\n"
        "        for n, b in enumerate(bs):\n            self.m(b, n)",
    ],
)
def test_whatever_way_a_compiled_function_takes_to_its_call_it_is_seen(how: str):
    source = f"import torch\ndef step(x, n):\n    return x * n\n{how}\n"
    files = {"m.py": summarize("m.py", "m", False, source.encode())}
    project, regions = resolve(files, RegionOptions())
    assert {one.name for one in build(project, regions, lambda path, *_: source).passed} == {"n"}


# --- bounds ---------------------------------------------------------------------------------------------


def nested(levels: int) -> str:
    """Stages that make stages in loops of unknown length, down to a block that is compiled by itself."""
    source = "import torch\nfrom torch import nn\n\nclass Block(nn.Module):\n    def __init__(self, d, i):\n"
    source += "        super().__init__()\n        self.i = i\n\n    def forward(self, x):\n"
    source += "        return x * self.i\n\n"
    for level in reversed(range(levels)):
        inner = f"Stage{level + 1}(cfg, d + i)" if level + 1 < levels else "Block(d, i + j)"
        source += (
            f"class Stage{level}(nn.Module):\n    def __init__(self, cfg, d):\n        super().__init__()\n"
            "        self.inner = nn.ModuleList()\n        for i in range(cfg.n):\n"
            f"            for j in range(cfg.m):\n                self.inner.append({inner})\n\n"
            "    def forward(self, x):\n        for one in self.inner:\n            x = one(x)\n"
            "        return x\n\n"
        )
    return source


def test_stages_in_loops_in_stages_end():
    source = nested(6)
    files = {"m.py": summarize("m.py", "m", False, source.encode())}
    project, regions = resolve(files, RegionOptions(assume="blocks"))
    found = build(project, regions, lambda path, *_: source).units.differences
    assert ("Block", "i") in {(one.unit.name, one.attribute) for one in found}
