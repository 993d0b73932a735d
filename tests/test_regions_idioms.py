"""Regions: idioms of public code that each need a rule of their own, every one beside what it must not be."""

from __future__ import annotations

import textwrap

import pytest

from tests.programs import ASKING_WRAPPER, hot, resolve_text

MODEL = """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
    @classmethod
    def unused(cls): ...
def helper(x): return x
def cold(x): return x
"""
BLOCK = {"Block.forward", "helper"}
WHOLE = BLOCK | {"Model.forward"}


def names(code: str, **options: object) -> set[str]:
    return set(hot(MODEL + textwrap.dedent(code), **options))


# --- functions that compiled library code is given ------------------------------------------------------

FLEX = """
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
def mask_mod(b, h, q, k): return helper(q)
def score_mod(score, b, h, q, k): return helper(score)
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("make = torch.compile(create_block_mask)\nmake(mask_mod, 1, 1, 8, 8)", {"mask_mod", "helper"}),
        ("torch.compile(create_block_mask)(mask_mod, 1, 1, 8, 8)", {"mask_mod", "helper"}),
        (
            "def maker(): return torch.compile(create_block_mask)\nmaker()(mask_mod, 1, 1, 8, 8)",
            {"mask_mod", "helper"},
        ),
        ("create_block_mask(mask_mod, 1, 1, 8, 8, _compile=True)", {"mask_mod", "helper"}),
        (
            "class A:\n    flex = torch.compile(flex_attention)\n"
            "    def run(self, q): return self.flex(q, q, q, score_mod=score_mod)",
            {"score_mod", "helper"},
        ),
        (
            "flex = torch.compile(flex_attention)\nmask = create_block_mask(mask_mod, 1, 1, 8, 8)\n"
            "def run(q): return flex(q, q, q, block_mask=mask)",
            {"mask_mod", "helper"},
        ),
    ],
)
def test_what_a_compiled_library_function_is_given_is_compiled(code: str, expected: set[str]) -> None:
    assert names(FLEX + code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "create_block_mask(mask_mod, 1, 1, 8, 8)",
        "create_block_mask(mask_mod, 1, 1, 8, 8, _compile=False)",
        "make = torch.compile(create_block_mask)\ndef run(): return create_block_mask(mask_mod, 1, 1, 8, 8)",
        "flex = torch.compile(flex_attention)\ndef run(q): return flex(q, q, q)",
        "make = create_block_mask\nmake(mask_mod, 1, 1, 8, 8)\nother = torch.compile(flex_attention)",
        "def make(f): return f\nfast = torch.compile(create_block_mask)\nmake(mask_mod)",
    ],
)
def test_what_an_eager_library_function_is_given_is_not(code: str) -> None:
    assert names(FLEX + code) == set()


def test_the_entry_of_a_mask_function_is_the_line_that_compiles() -> None:
    code = FLEX + "make = torch.compile(create_block_mask)\nmake(mask_mod, 1, 1, 8, 8)\n"
    _, regions = resolve_text(MODEL + code)
    (entry,) = regions.entries
    assert (entry.target, entry.idiom) == ("m.py::mask_mod", "call")
    assert entry.line == 2 + (MODEL + code).split("make = ")[0].count("\n") + 1


# --- parameters that hold functions ---------------------------------------------------------------------

APPLY = """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.sample = torch.compile(self.sample)
    def _apply(self, fn, x): return fn(x)
    def forward(self, x):
        return self._apply(cold, x)
    def sample(self, x):
        return self._apply(helper, x)
"""


def test_of_a_shared_helper_only_what_compiled_callers_pass_to_it_is_compiled() -> None:
    assert names(APPLY) == {"Policy.sample", "Policy._apply", "helper"}
    assert names(APPLY.replace("torch.compile(self.sample)", "torch.compile(self.forward)")) == {
        "Policy.forward",
        "Policy._apply",
        "cold",
    }


def test_a_function_that_is_compiled_itself_gets_what_eager_code_passes_to_it() -> None:
    code = "@torch.compile\ndef run(fn, x): return fn(x)\ndef main(x): return run(helper, x)"
    assert names(code) == {"run", "helper"}


def test_a_caller_that_turns_out_to_be_compiled_later_counts_too() -> None:
    code = """
    def apply(fn, x): return fn(x)
    @torch.compile
    def first(x): return apply(helper, x)
    @torch.compile
    def second(x): return third(x)
    def third(x): return apply(cold, x)
    """
    assert names(code) == {"apply", "first", "helper", "second", "third", "cold"}


# --- wrappers that pass attributes on -------------------------------------------------------------------

WRAPPER = (
    ASKING_WRAPPER
    + """
    def forward(self, x): return cold(self.module(x))
wrapped = Wrapper(Model())
"""
)


def test_what_a_wrapper_passes_on_by_getattr_is_that_of_what_it_wraps() -> None:
    assert names(WRAPPER + "for layer in wrapped.layers: layer.compile()") == BLOCK
    plain = WRAPPER.replace("nn.Module", "object").replace("super().__init__()", "pass")
    assert names(plain + "for layer in wrapped.layers: layer.compile()") == BLOCK


def test_a_wrapper_without_getattr_passes_nothing_on() -> None:
    opaque = WRAPPER.replace("def __getattr__", "def other")
    assert names(opaque + "for layer in wrapped.layers: layer.compile()") == set()


def test_what_every_module_has_is_the_wrappers_own() -> None:
    asked = {"Wrapper.__getattr__"}  # nn.Module keeps `module` where only that finds it
    assert names(WRAPPER + "wrapped.compile()") == WHOLE | asked | {"Wrapper.forward", "cold"}
    inner = "class Inner(nn.Module):\n    def train(self, mode): return cold(mode)\nw = Wrapper(Inner())\n"
    assert names(WRAPPER + inner + "@torch.compile\ndef f(): w.train(True)") == {"f"}


# --- names that only the run knows ----------------------------------------------------------------------

ZOO = {
    "zoo.py": """
    from blocks import Helper
    class ViT(nn.Module):
        def forward(self, x): return x
    def vit_small(**kwargs):
        model = ViT()
        return model
    def vit_large(**kwargs): return ViT()
    def drop(x): return x
    def _private(): return Hidden()
    class Hidden(nn.Module):
        def forward(self, x): return x
    """,
    "blocks.py": "class Helper(nn.Module):\n    def forward(self, x): return x\n",
}


@pytest.mark.parametrize(
    "lookup",
    ["zoo.__dict__[name](a=1)", "getattr(zoo, name)()", "vars(zoo)[name]()", 'zoo.__dict__["vit_large"]()'],
)
def test_a_model_looked_up_in_a_module_is_what_its_factories_build(lookup: str) -> None:
    use = {"train.py": f"import zoo\ndef main(name):\n    model = {lookup}\n    model.compile()\n"}
    assert set(hot(ZOO | use)) == {"zoo.py::ViT.forward"}


@pytest.mark.parametrize(
    "code",
    [
        "import zoo\ndef main(name):\n    zoo.__dict__[name]()\n",
        "import zoo\ndef main(name, table):\n    model = table[name]()\n    model.compile()\n",
        "import zoo\ndef main(name):\n    fn = zoo.__dict__['drop']\n    fn(1).compile()\n",
    ],
)
def test_other_lookups_compile_nothing(code: str) -> None:
    assert hot(ZOO | {"train.py": code}) == {}


def test_a_module_that_builds_too_many_models_says_nothing() -> None:
    many = "".join(
        f"class M{i}(nn.Module):\n    def forward(self, x): return x\ndef m{i}(): return M{i}()\n"
        for i in range(9)
    )
    use = {"train.py": "import zoo\ndef main(name):\n    model = getattr(zoo, name)()\n    model.compile()\n"}
    assert hot({"zoo.py": many} | use) == {}
    few = {"zoo.py": many.split("class M3")[0]}
    assert len(hot(few | use)) == 3


REGISTRY = """
REGISTRY = {}
def register(name):
    def add(cls):
        REGISTRY[name] = cls
        return cls
    return add
@register("first")
class First(nn.Module):
    def forward(self, x): return helper(x)
class Second(nn.Module):
    def forward(self, x): return cold(x)
def build(name): return REGISTRY[name]()
"""


def test_a_registry_holds_what_its_decorator_registers() -> None:
    assert hot(MODEL + REGISTRY + "build('first').compile()") == {
        "First.forward": "likely",
        "helper": "likely",
    }


def test_a_local_dictionary_of_the_same_name_is_no_registry() -> None:
    local = REGISTRY.replace("    def add(cls):", "    REGISTRY = {}\n    def add(cls):")
    assert hot(MODEL + local + "build('first').compile()") == {}


# --- what libraries build and compile -------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "model = hydra.utils.instantiate({'_target_': 'm.Model', 'n': 2})",
        "cfg = {'_target_': 'm.Model'}\nmodel = hydra.utils.instantiate(cfg, n=3)",
        "from omegaconf import OmegaConf\ncfg = OmegaConf.create(dict(_target_='m.Model'))\n"
        "model = hydra.utils.instantiate(cfg)",
        "@dataclass\nclass Config:\n    _target_: str = 'm.Model'\n"
        "def main(cfg):\n    global model\n    model = hydra.utils.instantiate(cfg.model)",
    ],
)
def test_hydra_builds_what_the_target_names(code: str) -> None:
    source = f"import hydra\nfrom dataclasses import dataclass\n{code}\nmodel.compile()\n"
    assert set(hot({"m.py": MODEL, "t.py": source})) == WHOLE


@pytest.mark.parametrize(
    "code",
    [
        "def instantiate(cfg): return None\nmodel = instantiate({'_target_': 'm.Model'})\nmodel.compile()",
        "model = hydra.utils.instantiate({'_target_': 'm.helper'})\nmodel.compile()",
        "model = hydra.utils.instantiate({'_target_': 'nowhere.Model'})\nmodel.compile()",
        "model = hydra.utils.instantiate({'_target_': 'm.Model'})",
        "model = hydra.utils.instantiate(cfg.model)\nmodel.compile()",
    ],
)
def test_other_targets_compile_nothing(code: str) -> None:
    assert hot({"m.py": MODEL, "t.py": f"import hydra\n{code}\n"}) == {}


@pytest.mark.parametrize("call", ["from_pretrained('x')", "from_config(cfg)", "load_from_checkpoint('x')"])
def test_a_constructor_that_a_library_leaves_to_its_heirs_gives_an_instance(call: str) -> None:
    base = "from transformers import PreTrainedModel\nclass Mine(PreTrainedModel):\n    def forward(self, x): ...\n"
    assert names(base + f"model = Mine.{call}\nmodel.compile()") == {"Mine.forward"}
    assert names(base + f"model = Mine.other_{call}\nmodel.compile()") == set()


MIXED = """
from transformers import PreTrainedModel
class Loads:
    @classmethod
    def from_pretrained(cls, path):
        {body}
class Base(PreTrainedModel): pass
class Mine(Loads, Base):
    def forward(self, x): ...
class Other(Loads, Base):
    def forward(self, x): ...
Mine.from_pretrained("x").compile()
"""


@pytest.mark.parametrize(
    ("body", "compiled"),
    [
        ("return super().from_pretrained(path)", {"Mine.forward"}),
        ("if path: return super().from_pretrained(path)\n        return cls(path)", {"Mine.forward"}),
        ("model = super().from_pretrained(path)\n        return model.eval()", {"Mine.forward"}),
        ("super().from_pretrained(path)", set()),
        ("return super().download(path)", set()),
        ("return Other(path)", {"Other.forward"}),
    ],
)
def test_a_mixin_that_asks_the_constructor_of_a_library_gives_the_class_it_is_asked_of(
    body: str, compiled: set[str]
) -> None:
    assert names(MIXED.format(body=body)) == compiled


PICKED = """
import transformers
from transformers import PreTrainedModel
class Mine(PreTrainedModel):
    def forward(self, x): ...
class Own(nn.Module):
    @classmethod
    def from_pretrained(cls, path): return Other()
    def forward(self, x): ...
class Other(nn.Module):
    def forward(self, x): ...
class Plain:
    def forward(self, x): ...
def load(path, own):
    kind = {one} if own else {other}
    return kind.{method}(path)
model = load("x", True)
model.compile()
"""


@pytest.mark.parametrize(
    ("one", "other", "method", "compiled"),
    [
        ("Mine", "transformers.AutoModelForCausalLM", "from_pretrained", {"Mine.forward"}),
        ("Mine", "Own", "from_pretrained", {"Mine.forward", "Other.forward"}),
        ("Own", "transformers.AutoModelForCausalLM", "from_pretrained", {"Other.forward"}),
        ("Plain", "transformers.AutoModelForCausalLM", "from_pretrained", set()),
        ("Mine", "transformers.AutoModelForCausalLM", "other", set()),
        ("transformers.AutoModel", "transformers.AutoModelForCausalLM", "from_pretrained", set()),
    ],
)
def test_what_one_class_has_for_a_constructor_says_nothing_of_another_that_a_library_leaves_it_to(
    one: str, other: str, method: str, compiled: set[str]
) -> None:
    assert names(PICKED.format(one=one, other=other, method=method)) == compiled


def test_accelerate_compiles_what_it_prepares_if_it_is_told_a_backend() -> None:
    code = (
        "from accelerate import Accelerator\nacc = Accelerator({arguments})\nmodel = acc.prepare(Model())\n"
    )
    assert names(code.format(arguments="dynamo_backend='inductor'")) == WHOLE
    assert names(code.format(arguments="")) == set()
    assert names(code.format(arguments="dynamo_backend='no'")) == set()
    plugin = "dynamo_plugin=TorchDynamoPlugin(backend='inductor', use_regional_compilation=True)"
    assert names("from accelerate.utils import TorchDynamoPlugin\n" + code.format(arguments=plugin)) == BLOCK


def test_megatrons_fuser_compiles_what_it_decorates_and_its_builder_builds_what_a_spec_names() -> None:
    code = """
from megatron.core.jit import jit_fuser
from megatron.core.transformer.spec_utils import ModuleSpec, build_module
@jit_fuser
def fused(x): return cold(x)
block = build_module(ModuleSpec(module=Block))
"""
    assert names(code) == {"fused", "cold"}
    assert names(code + "block.compile()\n") == {"fused", "cold"} | BLOCK
    assert names(code.replace("megatron.core.jit import jit_fuser", "other import jit_fuser")) == set()


# --- the smaller ones -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("@functools.partial(torch.compile, dynamic=True)\ndef f(x): return helper(x)", {"f", "helper"}),
        ("m = torch._dynamo.optimize('inductor')(Model())", WHOLE),
        ("@torch._dynamo.optimize()\ndef f(x): return helper(x)", {"f", "helper"}),
        ("model = Model()\nfast = torch.compile(model.__call__)", WHOLE),
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
            WHOLE,
        ),
    ],
)
def test_other_spellings_compile_what_they_name(code: str, expected: set[str]) -> None:
    assert names("import functools\n" + code) == expected


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
    assert names("import functools\n" + code) == set()


def test_what_is_disabled_where_it_is_called_is_cold() -> None:
    assert names("@torch.compile\ndef f(x): return torch.compiler.disable(helper)(x)") == {"f"}


CALLING = """
class Odd(nn.Module):
    def __call__(self, x): return super().__call__(cold(x))
    def forward(self, x): return helper(x)
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd = Odd()
    def forward(self, x): return self.odd(x)
"""


def test_an_overridden_call_is_compiled_unless_its_module_is_compiled_in_place() -> None:
    assert names(CALLING + "fast = torch.compile(Odd())") == {"Odd.__call__", "Odd.forward", "helper", "cold"}
    assert names(CALLING + "odd = Odd()\nodd.compile()") == {"Odd.forward", "helper"}
    outer = {"Outer.forward", "Odd.__call__", "Odd.forward", "helper", "cold"}
    assert names(CALLING + "outer = Outer()\nouter.compile()") == outer


def test_the_context_of_an_autograd_function_is_set_up_inside_the_region() -> None:
    code = """
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x): return x
        @staticmethod
        def setup_context(ctx, inputs, output): helper(1)
        @staticmethod
        def other(x): return cold(x)
    @torch.compile
    def f(x): return F.apply(x)
    """
    assert names(code) == {"f", "F.forward", "F.setup_context", "helper"}


# --- compile sites --------------------------------------------------------------------------------------


def test_what_a_compiled_function_is_called_with_at_once_is_not_what_is_compiled() -> None:
    _, regions = resolve_text(MODEL + "model = Model()\nresult = torch.compile(cold)(model)\n")
    assert [entry.target for entry in regions.entries] == ["m.py::cold"]
    assert regions.unresolved == ()
    assert names("model = Model()\nmodel = torch.compile(mode='max-autotune')(model)") == WHOLE


LAZY = """
def lazily(fn):
    compiled = None
    def wrapped(*args):
        nonlocal compiled
        if compiled is None:
            compiled = torch.compile(fn)
        return compiled(*args)
    return wrapped
@lazily
def fast(x): return helper(x)
def slow(x): return cold(x)
"""


def test_a_decorator_that_compiles_at_the_first_call_compiles_what_it_decorates() -> None:
    assert names(LAZY) == {"fast", "helper"}
    assert names(LAZY.replace("torch.compile(fn)", "torch.jit.script(fn)")) == set()
    assert names(LAZY.replace("@lazily", "@other")) == set()


@pytest.mark.parametrize(
    "test",
    [
        "type(m).__name__ == 'Block'",
        "m.__class__.__name__ == 'Block'",
        "type(m).__name__ in ('Block', 'Other')",
        "not m.__class__.__name__ != 'Block'",
    ],
)
def test_a_test_of_the_name_of_a_class_tells_which_modules_are_compiled(test: str) -> None:
    assert names(f"for m in Model().modules():\n    if {test}:\n        m.compile()") == BLOCK
    assert (
        names(
            f"def run(model: nn.Module):\n    for m in model.modules():\n        if {test}:\n            m.compile()"
        )
        == BLOCK
    )


@pytest.mark.parametrize(
    "test", ["type(m).__name__ == 'Other'", "m.__class__.__name__ not in ('Block', 'Model')"]
)
def test_other_names_leave_no_module(test: str) -> None:
    assert names(f"for m in Model().modules():\n    if {test}:\n        m.compile()") == set()


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
    assert names(code) == set()


def test_a_replaced_torch_compile_compiles_what_the_original_did_and_not_its_replacement() -> None:
    code = """
    original = torch.compile
    def patched(*args, **kwargs):
        cold(1)
        return original(*args, **kwargs)
    torch.compile = patched
    @torch.compile
    def f(x): return helper(x)
    """
    assert names(code) == {"f", "helper"}


def test_a_method_compiled_in_the_body_of_its_class_is_compiled() -> None:
    code = "class T:\n    def step(self, x): return helper(x)\n    def other(self, x): return cold(x)\n"
    assert names(code + "    fast = torch.compile(step)\n") == {"T.step", "helper"}
    assert names(code + "    step = torch.compile(step)\n") == {"T.step", "helper"}
    assert names(code + "    fast = torch.jit.script(step)\n") == set()
    assert names(code + "    fast = step\n") == set()


def test_what_a_call_keeps_dynamo_from_looking_into_is_cold() -> None:
    code = "{call}(helper)\n@torch.compile\ndef f(x): return cold(helper(x))\n"
    assert names(code.format(call="torch._dynamo.allow_in_graph")) == {"f", "cold"}
    assert names(code.format(call="torch.compiler.assume_constant_result")) == {"f", "cold"}
    assert names(code.format(call="print")) == {"f", "cold", "helper"}
    assert names(code.format(call="mine.allow_in_graph")) == {"f", "cold", "helper"}


def test_containers_of_modules_of_a_class_of_their_own_hold_what_each_is_given() -> None:
    code = """
    class List(nn.ModuleList): ...
    class Other(nn.Module):
        def forward(self, x): return cold(x)
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = List([Block() for _ in range(2)])
            self.others = List([Other()])
    for block in Twice().blocks: block.compile()
    """
    assert names(code) == BLOCK
    assert names(code.replace("blocks: block", "others: block")) == {"Other.forward", "cold"}
    assert names(code.replace("nn.ModuleList", "object")) == set()


# --- flags ----------------------------------------------------------------------------------------------

FLAGGED = """
class Config:
    regional_compile: bool = True
class Trainer:
    def __init__(self, cfg):
        self.compile_model = cfg.compile_model
"""


def unresolved(code: str) -> list[tuple[str, tuple[str, ...]]]:
    _, regions = resolve_text(MODEL + code)
    return [(site.expression, site.examples) for site in regions.unresolved]


def test_a_flag_that_nothing_answers_is_reported_with_a_line_that_works() -> None:
    assert unresolved(FLAGGED) == [
        ("Config.regional_compile", ("m:Block",)),
        ("Trainer.compile_model", ("m:Block",)),
    ]
    _, regions = resolve_text(MODEL + FLAGGED, declared=("m:Block",))
    assert {one.function.id for one in regions.hot} == {"m.py::Block.forward", "m.py::helper"}
    assert regions.unresolved == ()


@pytest.mark.parametrize(
    "code",
    [
        FLAGGED + "Model().compile()",
        FLAGGED + "@torch.compile\ndef f(x): return x",
        "class Config:\n    recompile: bool = True\n    torch_compiled = 1",
        "regional_compile = True\ncompile_model = False",
        "def run(torch_compile=True): return torch_compile",
    ],
)
def test_a_flag_beside_an_entry_and_other_names_are_quiet(code: str) -> None:
    assert unresolved(code) == []
