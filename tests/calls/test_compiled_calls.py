"""`torch.compile` as a value: a call of whatever holds it compiles what it is given."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text
from tests.small_model import SMALL_MODEL, SMALL_WHOLE, names_with_model

# --- what holds torch.compile ---------------------------------------------------------------------------

NETS = """
from functools import partial
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""


@pytest.mark.parametrize(
    "text",
    [
        "class T:\n"
        "    def __init__(self, cfg):\n"
        "        self.comp = torch.compile if cfg.fast else (lambda m: m)\n"
        "    def setup(self): self.net, self.other = self.comp(Net()), Other()\n",
        "def build(comp=torch.compile): return comp(Net())\n",
        "def build():\n    comp = getattr(torch, 'compile', None)\n    return comp(Net())\n",
        "def build(comp=None):\n    comp = comp or torch.compile\n    return comp(Net())\n",
        "COMPILERS = {'none': print, 'inductor': torch.compile}\n"
        "def build(kind): return COMPILERS[kind](Net())\n",
        "COMPILERS = {'none': print, 'inductor': partial(torch.compile, dynamic=True)}\n"
        "def build(kind):\n    comp = COMPILERS[kind]\n    return comp(Net())\n",
        "def compiler(cfg):\n"
        "    if not cfg.fast: return lambda fn: fn\n"
        "    return partial(torch.compile, mode=cfg.mode)\n"
        "def build(cfg):\n    comp = compiler(cfg)\n    return comp(Net()), Other()\n",
        "def compiler(cfg):\n    fast = torch.compile if cfg.fast else (lambda m: m)\n    return fast\n"
        "def build(cfg): return compiler(cfg)(Net())\n",
        "def build(comp): return comp(Net())\nbuild(torch.compile)\nbuild(lambda m: m)\n",
        "def build(comp): return comp(Net())\nbuild(comp=torch.compile)\n",
        "class Cfg:\n    comp: object = torch.compile\ndef build(cfg: Cfg): return cfg.comp(Net())\n",
        "class T:\n"
        "    def __init__(self, comp): self.go = comp\n"
        "    def build(self): return self.go(Net())\nT(comp=torch.compile)\n",
    ],
)
def test_what_holds_torch_compile_compiles(text: str) -> None:
    found = hot(NETS + text)
    assert set(found) == {"Net.forward"}


@pytest.mark.parametrize(
    "text",
    [
        "a, b = map(torch.compile, (Net(), Net()))\n",
        "nets = [Net()]\nnets = list(map(torch.compile, nets))\n",
        "nets = nn.ModuleList([Net()])\nnets = nn.ModuleList(map(partial(torch.compile, dynamic=True), nets))\n",
    ],
)
def test_what_torch_compile_is_mapped_over_is_compiled(text: str) -> None:
    assert hot(NETS + text + "def after(x): return Other()(x)\n") == {"Net.forward": "certain"}


@pytest.mark.parametrize(
    "text",
    [
        # another attribute called compile
        "import re\ndef build(comp=re.compile): return comp(Net())\n",
        "class T:\n"
        "    def __init__(self, cfg): self.comp = cfg.compile\n"
        "    def build(self): return self.comp(Net())\n",
        "def build():\n    comp = getattr(torch, 'jit', None)\n    return comp(Net())\n",
        "def build(cfg):\n    comp = getattr(cfg, 'compile', None)\n    return comp(Net())\n",
        # torch.compile is looked at, never called
        "def build(comp=torch.compile): return comp, Net()\n",
        "TABLE = {'on': torch.compile}\ndef build(kind): return TABLE[kind], Net()\n",
        # what has the name elsewhere is something else
        "def build(comp=torch.compile): return comp\ndef other(comp): return comp(Net())\nother(print)\n",
        "class A:\n    def __init__(self): self.comp = torch.compile\n"
        "class B:\n    def __init__(self): self.comp = print\n    def go(self): return self.comp(Net())\n",
        # the other key of a table, whatever stands beside it
        "TABLE = {'off': print, 'on': torch.compile}\ndef build(): return TABLE['off'](Net())\n",
        # mapped over something else, and another function mapped over the nets
        "texts = list(map(torch.compile, []))\nnets = list(map(print, [Net()]))\n",
        "def call(fn, x): return x\ncall(torch.compile, Net())\n",
    ],
)
def test_what_only_looks_like_it_is_quiet(text: str) -> None:
    assert hot(NETS + text) == {}


COMPILER = """
class Compiler:
    def __init__(self, mode=None): self.mode = mode
    def __call__(self, m): return torch.compile(m, mode=self.mode)
"""
MAKER = """
def make_compiler(cfg):
    def fast(m):
        if cfg.fast: m = torch.compile(m)
        return m
    return fast
"""


@pytest.mark.parametrize(
    "text",
    [
        COMPILER + "comp = Compiler()\nnet, other = comp(Net()), Other()\n",
        COMPILER + "class T:\n"
        "    def __init__(self, comp=None):\n"
        "        self.comp = comp or Compiler()\n"
        "        self.net = self.comp(Net())\n",
        COMPILER + "class T:\n    def __init__(self, net, comp): self.net = comp(net)\n"
        "T(Net(), comp=Compiler('default'))\n",
        COMPILER + "def build(comp): return comp(Net())\nbuild(Compiler())\n",
        MAKER + "def build(cfg):\n    comp = make_compiler(cfg)\n    return comp(Net()), Other()\n",
        MAKER + "class T:\n"
        "    def __init__(self, cfg): self.comp = make_compiler(cfg)\n"
        "    def build(self): self.net = self.comp(Net())\n",
    ],
)
def test_what_a_compiling_object_or_closure_is_given_is_compiled(text: str) -> None:
    assert set(hot(NETS + text)) == {"Net.forward"}


@pytest.mark.parametrize(
    "text",
    [
        COMPILER + "comp = print\nnet = comp(Net())\n",
        COMPILER.replace("torch.compile(m, mode=self.mode)", "m") + "comp = Compiler()\nnet = comp(Net())\n",
        COMPILER + "def build(comp): return comp(Net())\nbuild(print)\nkept = Compiler()\n",
        COMPILER + "class Plain:\n    def __call__(self, m): return m\ncomp = Plain()\nnet = comp(Net())\n",
        MAKER + "def build(cfg):\n    comp = make_compiler(cfg)\n    return comp, Net()\n",
        MAKER + "def maker(cfg):\n    def fast(m): return m\n    return fast\n"
        "def build(cfg):\n    comp = maker(cfg)\n    return comp(Net())\n",
    ],
)
def test_what_another_object_of_that_name_is_given_is_quiet(text: str) -> None:
    assert hot(NETS + text) == {}


MODEL = """
class Block(nn.Module):
    def forward(self, x): return x
class Head(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    names = ["Block"]
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = Head()
    def forward(self, x): return self.head(self.blocks[0](x))
"""


@pytest.mark.parametrize(
    "test",
    ["type(m).__name__ in model.names", "m.__class__.__name__ in set(model.names)", "type(m) is Block"],
)
def test_an_own_helper_called_regional_compile_compiles_what_its_body_says(test: str) -> None:
    helper = f"def regional_compile(model):\n    for m in model.modules():\n        if {test}: m.compile()\n"
    assert set(hot(MODEL + helper + "regional_compile(Model())\n")) == {"Block.forward"}


@pytest.mark.parametrize(
    "helper", ["", "from train.tools import regional_compile\n", "def regional_compile(m): return m\n"]
)
def test_a_helper_called_regional_compile_that_says_nothing_compiles_what_it_is_given(helper: str) -> None:
    everything = {"Model.forward", "Block.forward", "Head.forward"}
    assert set(hot(MODEL + helper + "regional_compile(Model())\n")) == everything


@pytest.mark.parametrize("given", ["Block", "(Block,)"])
def test_modules_of_a_class_that_a_helper_is_given_are_compiled_alone(given: str) -> None:
    helper = (
        "def fast(model, kinds):\n"
        "    for name, m in list(model.named_modules()):\n"
        "        if isinstance(m, kinds):\n"
        "            parent, _, leaf = name.rpartition('.')\n"
        "            setattr(model.get_submodule(parent), leaf, torch.compile(m))\n"
    )
    assert set(hot(MODEL + helper + f"fast(Model(), {given})\n")) == {"Block.forward"}


FACTORY = """
def plain(fn): return fn
def fuser(script: bool = False, enable: bool = True, mode: str = "fast"):
    if not enable:
        return plain
    if not script and available():
        return torch.compile(dynamic=True)
    return torch.jit.script
@fuser({given})
def step(x): return helper(x)
def helper(x): return x
"""


@pytest.mark.parametrize("given", ["", "script=False", "False", "script=flag", "**options", 'mode="slow"'])
def test_a_decorator_that_may_be_torch_compile_compiles(given: str) -> None:
    assert set(hot(FACTORY.format(given=given))) == {"step", "helper"}


@pytest.mark.parametrize("given", ["script=True", "True", "enable=False", "False, False"])
def test_a_decorator_that_says_that_it_is_something_else_compiles_nothing(given: str) -> None:
    assert hot(FACTORY.format(given=given)) == {}


def test_a_decorator_that_is_torch_compile_in_one_branch_at_least_compiles() -> None:
    source = FACTORY.replace("return torch.jit.script", "return torch.compile(dynamic=False)")
    assert set(hot(source.format(given="script=True"))) == {"step", "helper"}


# --- torch.compile by another name ----------------------------------------------------------------------

FORWARDING = """
def quick(*args, **kwargs):
    if not hasattr(torch, "compile"):
        return args[0]
    return torch.compile(*args, **kwargs)
"""


@pytest.mark.parametrize("use", ["@quick\ndef f(x):", "@quick(dynamic=True)\ndef f(x):"])
def test_a_function_that_hands_everything_on_to_torch_compile_compiles_what_it_decorates(use: str) -> None:
    assert names_with_model(f"{FORWARDING}{use} return helper(x)") == {"f", "helper"}


def test_a_function_that_hands_everything_on_to_torch_compile_compiles_what_it_is_given() -> None:
    assert names_with_model(FORWARDING + "model = quick(Model(), dynamic=True)") == SMALL_WHOLE
    assert names_with_model(FORWARDING + "model = Model()") == set()


def test_a_function_that_hands_everything_on_to_something_else_compiles_nothing() -> None:
    other = FORWARDING.replace("torch.compile(", "torch.no_grad(")
    assert names_with_model(other + "@quick\ndef f(x): return helper(x)") == set()


# --- compile sites --------------------------------------------------------------------------------------


def test_what_a_compiled_function_is_called_with_at_once_is_not_what_is_compiled() -> None:
    _, regions = resolve_text(SMALL_MODEL + "model = Model()\nresult = torch.compile(cold)(model)\n")
    assert [entry.target for entry in regions.entries] == ["m.py::cold"]
    assert regions.unresolved == ()
    assert (
        names_with_model("model = Model()\nmodel = torch.compile(mode='max-autotune')(model)") == SMALL_WHOLE
    )
