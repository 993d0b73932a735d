"""Entries: which spellings of torch.compile compile what they name, and which only look like it."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text
from tests.small_model import (
    MIXED_BLOCK,
    MIXED_MODEL,
    MIXED_WHOLE,
    SMALL_WHOLE,
    names_with_model,
    with_mixed_model,
)

# --- what a compile site names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model = torch.compile(Model())", MIXED_WHOLE),
        ("model = Model()\nmodel = torch.compile(model, fullgraph=True)", MIXED_WHOLE),
        ("model = Model()\nmodel.compile()", MIXED_WHOLE),
        ("model = Model().cuda().eval()\nmodel.compile()", MIXED_WHOLE),
        ("step = torch.compile(lambda x: helper(x))", {"<lambda>", "helper"}),
        ("fast = torch.compile(helper)", {"helper"}),
        ("Block.forward = torch.compile(Block.forward)", MIXED_BLOCK),
        ("model = Model()\nmodel.forward = torch.compile(model.forward)", MIXED_WHOLE),
        ("for layer in Model().layers:\n    layer.compile()", MIXED_BLOCK),
        (
            "m = Model()\nfor i, layer in enumerate(m.layers):\n    m.layers[i] = torch.compile(layer)",
            MIXED_BLOCK,
        ),
        ("m = Model()\nfor i in range(2):\n    m.layers[i] = torch.compile(m.layers[i])", MIXED_BLOCK),
        ("m = Model()\nfor name, layer in m.layers.named_children():\n    layer.compile()", MIXED_BLOCK),
        ("blocks = nn.ModuleList([torch.compile(Block()) for _ in range(3)])", MIXED_BLOCK),
        ("model = regional_compile(Block())", MIXED_BLOCK),
        (
            "import functools\nfast = functools.partial(torch.compile, dynamic=True)\nm = fast(Model())",
            MIXED_WHOLE,
        ),
        ("fast = torch.compile(fullgraph=True)\nm = fast(Model())", MIXED_WHOLE),
        ("m = torch.compile(mode='max-autotune')(Model())", MIXED_WHOLE),
        ("from torch import compile as tc\nm = tc(Model())", MIXED_WHOLE),
        ("def run(model: Model):\n    return torch.compile(model)", MIXED_WHOLE),
        ("def run():\n    model = Model()\n    return torch.compile(model=model)", MIXED_WHOLE),
        ("model = Model()\nmodel = torch.compile(model) if FAST else model", MIXED_WHOLE),
        ("with regional_compile():\n    y = Block()(torch.ones(4))", MIXED_BLOCK),
    ],
)
def test_each_idiom_compiles_what_it_names(code: str, expected: set[str]) -> None:
    assert hot(with_mixed_model(code)) == dict.fromkeys(expected, "certain")


@pytest.mark.parametrize(
    "decorator",
    [
        "@torch.compile",
        "@torch.compile(dynamic=False)",
        "@torch.compile()",
        "@regional_compile",
        "@regional_compile(enabled=True)",
    ],
)
def test_a_decorated_function_is_compiled(decorator: str) -> None:
    source = (
        f"def helper(x): return x\n\n{decorator}\ndef step(x): return helper(x)\ndef other(x): return x\n"
    )
    assert hot(source) == {"step": "certain", "helper": "certain"}


def test_compile_inside_init_compiles_the_submodule_only() -> None:
    _, regions = resolve_text("""
        class Block(nn.Module):
            def forward(self, x): return x
        class Model(nn.Module):
            def __init__(self, cfg, n):
                super().__init__()
                self.layers = nn.ModuleList()
                for _ in range(n):
                    block = Block()
                    if cfg.regional_compile:
                        block = torch.compile(block)
                    self.layers.append(block)
            def forward(self, x): return self.layers[0](x)
    """)
    assert {f.function.id for f in regions.hot} == {"m.py::Block.forward"}
    (entry,) = regions.entries
    assert (entry.condition, entry.regional, entry.idiom) == ("cfg.regional_compile", True, "call")


def test_entries_say_line_target_and_whether_they_are_regional() -> None:
    _, regions = resolve_text(
        with_mixed_model("m = Model()\nfor b in m.layers:\n    b.compile()\nf = torch.compile(helper)")
    )
    assert [(e.idiom, e.target, e.regional) for e in regions.entries] == [
        ("method", "m.py::Block", True),
        ("call", "m.py::helper", False),
    ]


def test_each_class_that_one_site_may_compile_is_an_entry_of_its_own() -> None:
    _, regions = resolve_text("""
        class A(nn.Module):
            def forward(self, x): return x
        class B(nn.Module):
            def forward(self, x): return x
        class Model(nn.Module):
            def __init__(self, pattern):
                super().__init__()
                self.layers = nn.ModuleList({"a": A, "b": B}[kind]() for kind in pattern)
        def compile_blocks(model: Model):
            for layer in model.layers:
                layer.compile()
    """)
    assert [(e.target, e.line) for e in regions.entries] == [("m.py::A", 14), ("m.py::B", 14)]
    assert {f.chain[0].symbol for f in regions.hot} == {"m.py::compile_blocks"}


@pytest.mark.parametrize(
    "code",
    [
        "import re\npattern = re.compile('x')",
        "class Kernel:\n    def compile(self): ...\nKernel().compile()",
        "import cute\nfn = cute.compile(helper)",
        "src = compile('1', 'f', 'eval')",
    ],
)
def test_other_things_called_compile_are_not_entries(code: str) -> None:
    _, regions = resolve_text(with_mixed_model(code))
    assert regions.entries == ()
    assert regions.unresolved == ()


def test_a_module_with_a_compile_method_of_its_own_is_not_compiled_by_calling_it() -> None:
    _, regions = resolve_text("""
        class Teacher(nn.Module):
            def compile(self, mode): return self
            def forward(self, x): return x
        class Task:
            def __init__(self, teacher: nn.Module):
                self.teacher = Teacher() if teacher is None else teacher
            def compile(self):
                self.teacher.compile("fast")
    """)
    assert (regions.entries, regions.unresolved) == ((), ())


def test_the_default_of_a_getattr_is_only_assumed_and_followed_only_on_request() -> None:
    source = """
        class Task(nn.Module):
            def inner(self): return getattr(self, "wrapped", self)
            def forward(self, x): return x
            def speed_up(self): return torch.compile(self.inner())
    """
    assert hot(source, guesses=True) == {"Task.forward": "possible"}
    assert hot(source) == {}


def test_a_module_without_any_entry_is_cold() -> None:
    assert hot(MIXED_MODEL) == {}


def test_library_modules_are_compiled_but_nothing_of_ours_is_hot() -> None:
    _, regions = resolve_text("m = torch.compile(nn.Linear(2, 2))\n")
    assert regions.unresolved == ()
    assert regions.hot == ()


def test_every_hot_function_has_a_chain_from_its_entry() -> None:
    _, regions = resolve_text(with_mixed_model("m = torch.compile(Model())"))
    chains = {f.function.key: f.chain for f in regions.hot}
    assert [(s.line, s.note) for s in chains["helper"]] == [
        (26, "compiled here"),
        (24, "calls Block.forward"),
        (9, "calls Block._mix"),
        (11, "calls helper"),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "class A(A): ...\nm = torch.compile(A())",
        "class A(B, nn.Module): ...\nclass B(A): ...\nm = torch.compile(A())",
        "X = Y\nY = X\nm = torch.compile(X)",
        "from m import *\nm = torch.compile(thing)",
        "def f(x): return f(x)\nf = torch.compile(f)",
        "a = [a]\nfor b in a: torch.compile(b)",
    ],
)
def test_circular_definitions_end(source: str) -> None:
    resolve_text(source)


# --- other spellings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("@functools.partial(torch.compile, dynamic=True)\ndef f(x): return helper(x)", {"f", "helper"}),
        ("m = torch._dynamo.optimize('inductor')(Model())", SMALL_WHOLE),
        ("@torch._dynamo.optimize()\ndef f(x): return helper(x)", {"f", "helper"}),
        ("model = Model()\nfast = torch.compile(model.__call__)", SMALL_WHOLE),
        (
            "g = torch.compiler.nested_compile_region(helper)\n@torch.compile\ndef f(x): return g(x)",
            {"f", "helper"},
        ),
        (
            "@torch.compile\ndef f(x):\n    fn = helper if torch.compiler.is_compiling() else cold\n    return fn(x)",
            {"f", "helper"},
        ),
        (
            "from lib import is_torch_compiling\n@torch.compile\ndef f(x):\n    if not is_torch_compiling():\n"
            "        return cold(x)\n    return helper(x)",
            {"f", "helper"},
        ),
        (
            "class Row:\n    model: nn.Module\n    @classmethod\n    def make(cls): return cls(model=Model())\n"
            "def run(row: Row): row.model.compile()",
            SMALL_WHOLE,
        ),
    ],
)
def test_other_spellings_compile_what_they_name(code: str, expected: set[str]) -> None:
    assert names_with_model("import functools\n" + code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "@functools.partial(torch.jit.script, optimize=True)\ndef f(x): return helper(x)",
        "m = other.optimize('inductor')(Model())",
        "optimizer.optimize(Model())",
        "model = Model()\nfast = model.__call__",
        "g = torch.compiler.nested_compile_region(helper)\ndef f(x): return g(x)",
        "@torch.compiler.nested_compile_region\ndef f(x): return helper(x)",
        "fn = torch.compiler.disable(helper) if torch.compiler.is_compiling() else cold",
        # A class of autograd functions has nothing that torch.compile wraps: `apply` is not `__call__`.
        "@torch.compile\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return helper(x)",
        "class Row:\n    model: nn.Module\n    @staticmethod\n    def make(cls): return cls(model=Model())\n"
        "def run(row: Row): row.model.compile()",
    ],
)
def test_what_only_looks_like_them_compiles_nothing(code: str) -> None:
    assert names_with_model("import functools\n" + code) == set()


# --- decoys: what looks like an idiom and compiles nothing ----------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        # a loop that puts back what it found
        "m = Model()\nfor name, child in m.layers.named_children():\n    m.layers.register_module(name, child)",
        # the result is thrown away before the loop registers the child: eager
        "m = Model()\nfor name, child in m.layers.named_children():\n"
        "    child = torch.jit.script(child)\n    m.layers.register_module(name, child)",
        # a walk over modules that compiles patterns
        "import re\nfor m in Model().modules():\n    if isinstance(m, Block):\n        re.compile(m.pattern)",
        # a walk whose test no module of the model passes
        "class Other(nn.Module):\n    def forward(self, x): return x\n"
        "for m in [Block()]:\n    if not isinstance(m, nn.Module):\n        m.compile()",
        # a module with a compile method of another meaning
        "class Kernel:\n    def compile(self): return helper(self)\nk = Kernel()\nk.compile()",
        # an attribute of another object that is set to something else
        "class T: ...\nt = T()\nmodel = Model()\nt.step = model.forward",
        "class Opt(torch.optim.Optimizer):\n    def step(self): return helper(1)\no = Opt([])\no.step = cold",
        # conditions without a call that compiles
        "class M(nn.Module):\n    _compile_conditions = [lambda n, m: 'layers' in n]\n"
        "    def forward(self, x): return helper(x)\nm = M()",
        "class M(nn.Module):\n    _compile_conditions = [lambda n, m: cold(n)]\n    regional_compile = True\n"
        "    def forward(self, x): return helper(x)\nany(c('n', 1) for c in M._compile_conditions)",
        # torch.compile replaced by something that compiles nothing, and nothing decorated with it
        "def fake(model, *args, **kwargs): return model\ntorch.compile = fake",
        "import other\nother.compile = torch.compile\nmodel = Model()",
        "saved = torch.compile\ntorch.compile = None\ntorch.compile = saved",
    ],
)
def test_decoys_compile_nothing(code: str) -> None:
    assert names_with_model(code) == set()


def test_a_method_compiled_in_the_body_of_its_class_is_compiled() -> None:
    code = "class T:\n    def step(self, x): return helper(x)\n    def other(self, x): return cold(x)\n"
    assert names_with_model(code + "    fast = torch.compile(step)\n") == {"T.step", "helper"}
    assert names_with_model(code + "    step = torch.compile(step)\n") == {"T.step", "helper"}
    assert names_with_model(code + "    fast = torch.jit.script(step)\n") == set()
    assert names_with_model(code + "    fast = step\n") == set()


# --- bad input ------------------------------------------------------------------------------------------


def test_a_chain_of_a_thousand_calls_ends() -> None:
    calls = "\n".join(f"def f{i}(x): return f{i + 1}(x)" for i in range(1000))
    source = f"{calls}\ndef f1000(x): return x\n@torch.compile\ndef start(x): return f0(x)\n"
    assert len(hot(source)) == 1002


def test_a_thousand_wrapped_values_end() -> None:
    names = "\n".join(f"a{i + 1} = a{i}" for i in range(1000))
    resolve_text(
        f"class M(nn.Module):\n    def forward(self, x): return x\na0 = M()\n{names}\na1000.compile()\n"
    )


# --- comprehensions -------------------------------------------------------------------------------------


def test_comprehensions_of_compiled_functions_are_known_and_eager_ones_are_not() -> None:
    project, regions = resolve_text("""
        @torch.compile
        def f(xs):
            if not torch.compiler.is_compiling():
                log({x for x in xs})
            return [x for x in xs]
    """)
    (function,) = regions.hot
    facts = project.function(function.function)
    assert [name for name, _ in facts.comprehensions] == ["f.<locals>.<listcomp>"]
