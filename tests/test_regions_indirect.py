"""Regions: models and functions reached by a detour, each beside the look-alike that leads nowhere."""

from __future__ import annotations

import textwrap

import pytest

from tests.programs import hot
from tests.test_regions_idioms import BLOCK, MODEL, WHOLE


def names(code: str) -> set[str]:
    return set(hot(MODEL + textwrap.dedent(code)))


# --- tables of functions --------------------------------------------------------------------------------

COMPILING = """
def of_model(model):
    for layer in model.layers:
        layer.compile()
"""


@pytest.mark.parametrize(
    "code",
    [
        "TABLE = {'model': of_model}\ndef run(m): TABLE['model'](m)\nrun(Model())",
        "TABLE = {'model': of_model}\ndef run(m, kind): TABLE[kind](m)\nrun(Model(), 'model')",
        "TABLE = {Model: dict(fn=of_model)}\ndef run(m): TABLE[type(m)]['fn'](m)\nrun(Model())",
        "TABLE = {'model': of_model}\ndef run(m, kind):\n    fn = TABLE[kind]\n    fn(m)\nrun(Model(), 1)",
        "TABLE = {'model': of_model}\ndef run(m, kind):\n    fn = TABLE.get(kind)\n    fn(m)\nrun(Model(), 1)",
        "from functools import partial\nrun = partial(of_model, Model())",
    ],
)
def test_what_a_table_or_a_partial_passes_to_a_function_flows_into_it(code: str) -> None:
    assert names(COMPILING + code) == BLOCK


@pytest.mark.parametrize(
    "code",
    [
        "TABLE = {'model': print}\ndef run(m): TABLE['model'](m)\nrun(Model())",
        "TABLE = {'model': of_model}\nOTHER = {'model': print}\ndef run(m): OTHER['model'](m)\nrun(Model())",
        "from functools import partial\nrun = partial(print, Model())",
    ],
)
def test_other_tables_pass_nothing_on(code: str) -> None:
    # Of one family alone it would be known what any model is.
    other = "class Text(nn.Module):\n    def __init__(self): self.layers = nn.ModuleList([Text()])\n"
    assert names(COMPILING + other + code) == set()


def test_a_registry_object_holds_what_its_method_registers() -> None:
    registry = """
    class Registry:
        def __init__(self): self._known = {}
        def register(self, cls):
            self._known[cls.__name__] = cls
            return cls
        def get(self, name): return self._known[name]
    MODELS = Registry()
    @MODELS.register
    class Net(nn.Module):
        def forward(self, x): return helper(x)
    class Unregistered(nn.Module):
        def forward(self, x): return cold(x)
    """
    assert names(registry + "\n    compiled = torch.compile(MODELS.get(name)())\n") == {
        "Net.forward",
        "helper",
    }


# --- modules that are only a place ----------------------------------------------------------------------

PLACE = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        {body}
    def forward(self, x): return {call}
class Cold(nn.Module):
    def forward(self, x): return cold(x)
other = nn.Module()
other.block = Cold()
compiled = torch.compile(Encoder())
"""


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("self.mid = nn.Module(); self.mid.block = Block()", "self.mid.block(x)"),
        (
            "down = nn.Module(); down.block = nn.ModuleList([Block()]); self.down = nn.ModuleList([down])",
            "self.down[0].block[0](x)",
        ),
        (
            "self.down = nn.ModuleList(); down = nn.Module(); block = nn.ModuleList(); "
            "block.append(Block()); down.block = block; self.down.insert(0, down)",
            "self.down[1].block[0](x)",
        ),
        (
            "self.mid = nn.Module(); self.mid.block = nn.ModuleList(); self.mid.block.append(Block())",
            "self.mid.block[0](x)",
        ),
    ],
)
def test_a_bare_module_holds_what_is_hung_on_it_and_not_what_is_hung_on_others(body: str, call: str) -> None:
    assert hot(MODEL + PLACE.format(body=body, call=call)) == {
        "Encoder.forward": "certain",
        "Block.forward": "certain",
        "helper": "certain",
    }


def test_what_is_called_on_a_bare_module_but_never_hung_on_it_is_cold() -> None:
    code = PLACE.format(body="self.mid = nn.Module()", call="self.mid.block(x)")
    assert names(code) == {"Encoder.forward"}


# --- functions that become methods ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import types\nm = Model()\nm.forward = types.MethodType(new, m)\ncompiled = torch.compile(m)",
        "m = Model()\nm.forward = new.__get__(m)\ncompiled = torch.compile(m)",
        "m = Model()\nm.forward = lambda x: new(m, x)\ncompiled = torch.compile(m)",
        "def patch(model):\n    model.forward = new.__get__(model)\n    return model\n"
        "compiled = torch.compile(patch(Model()))",
    ],
)
def test_what_is_assigned_to_the_forward_of_a_compiled_module_is_compiled(code: str) -> None:
    assert {"new", "cold"} <= names("def new(self, x): return cold(x)\n" + code)


@pytest.mark.parametrize(
    "code",
    [
        "m, n = Block(), Model()\nn.forward = new.__get__(n)\ncompiled = torch.compile(m)",
        "m = Block()\nm.backward = new.__get__(m)\ncompiled = torch.compile(m)",
    ],
)
def test_what_is_assigned_elsewhere_is_not(code: str) -> None:
    assert names("def new(self, x): return cold(x)\n" + code) == BLOCK


def test_a_method_that_is_chosen_as_forward_is_compiled() -> None:
    code = """
    class Chosen(nn.Module):
        def __init__(self, fast):
            super().__init__()
            self.forward = self.fast if fast else self.slow
        def fast(self, x): return helper(x)
        def slow(self, x): return x
        def unused(self, x): return cold(x)
    compiled = torch.compile(Chosen(True))
    """
    assert names(code) == {"Chosen.fast", "Chosen.slow", "helper"}


# --- dotted names ---------------------------------------------------------------------------------------

LOCATE = """
import importlib
def locate(text):
    module, name = text.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)
def build(config):
    return locate(config["target"])(**config.get("params", {}))
"""


@pytest.mark.parametrize(
    "code",
    [
        'compiled = torch.compile(locate("m.Model")())',
        'CONFIG = {"target": "m.Model", "params": {}}\ncompiled = torch.compile(build(CONFIG))',
        'import pydoc\ncompiled = torch.compile(pydoc.locate("m.Model")())',
        'from hydra.utils import get_class\nget_class("m.Model")().compile()',
    ],
)
def test_a_dotted_name_in_the_code_tells_what_is_built(code: str) -> None:
    assert names(LOCATE + code) == WHOLE


@pytest.mark.parametrize(
    "code",
    [
        'compiled = torch.compile(locate("elsewhere.Model")())',
        'compiled = torch.compile(locate("m.Missing")())',
        'compiled = torch.compile(locate("Model")())',
        'compiled = torch.compile("m.Model".split("")())',
    ],
)
def test_other_names_build_nothing(code: str) -> None:
    assert names(LOCATE + code) == set()


# --- wrappers, frameworks, helpers ----------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", ["Model()", "Model().forward"])
def test_a_module_of_a_library_runs_what_it_wraps(wrapped: str) -> None:
    code = f"from tensordict.nn import TensorDictModule\nrun = torch.compile(TensorDictModule({wrapped}))"
    assert names(code) == WHOLE


@pytest.mark.parametrize("made", ["Optimizer(Model())", "Table([Model()])", "summary(Model())"])
def test_other_things_that_are_made_of_a_model_are_not_the_model(made: str) -> None:
    assert names(f"from library import Optimizer, Table, summary\nrun = torch.compile({made})") == set()


PROCESSOR = """
from library import Attention
class Mine:
    def __call__(self, attention, x): return helper(x)
class Silent:
    def process(self, attention, x): return helper(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = {made}
    def forward(self, x): return {called}
compiled = torch.compile(Net())
"""


@pytest.mark.parametrize(
    "made", ["Attention(8, processor=Mine())", "Attention(Mine())", "Attention(*parts, processor=Mine())"]
)
def test_a_module_of_a_library_calls_the_object_that_it_is_made_with(made: str) -> None:
    found = hot(MODEL + PROCESSOR.format(made=made, called="self.attention(x)"))
    assert found == {"Net.forward": "certain", "Mine.__call__": "likely", "helper": "likely"}


@pytest.mark.parametrize(
    ("made", "called"),
    [
        ("Attention(8, processor=Mine())", "x"),  # it is not run itself
        ("Attention(8, processor=Mine())", "self.attention.size(x)"),
        ("Attention(8, processor=Silent())", "self.attention(x)"),
        ("Attention(8, processor=Mine)", "self.attention(x)"),  # no object
        ("Attention(8, processor=Mine().table)", "self.attention(x)"),
        ("attend(8, processor=Mine())", "self.attention(x)"),  # a function, which may give anything
        ("nn.Linear(8, bias=Mine)", "self.attention(x)"),
    ],
)
def test_other_objects_and_other_modules_call_nothing_of_ours(made: str, called: str) -> None:
    assert set(hot(MODEL + PROCESSOR.format(made=made, called=called))) == {"Net.forward"}


def test_a_trainer_runs_the_steps_of_a_compiled_lightning_module_compiled() -> None:
    code = """
    import lightning as L
    class Lit(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()
        def training_step(self, batch): return self.model(batch)
        def configure_optimizers(self): return cold(1)
    {}
    """
    assert names(code.format("lit = torch.compile(Lit())")) == WHOLE | {"Lit.training_step"}
    # Where it trains on several devices, the step runs within the forward that is compiled in place.
    assert names(code.format("lit = Lit()\n    lit.compile()")) == WHOLE | {"Lit.training_step"}
    assert names(code.format("lit = Lit()")) == set()
    assert names(code.format("lit = Lit()\n    lit.model.compile()")) == WHOLE
    outer = "class Outer(L.LightningModule):\n        def __init__(self):\n            super().__init__()\n            self.lit = Lit()\n            "
    assert names(code.format(outer + "self.lit = torch.compile(self.lit)")) == set()  # a part of another
    assert (
        names(code.replace("L.LightningModule", "nn.Module").format("lit = Lit()\n    lit.compile()"))
        == set()
    )


HELPER = """
from library import Arguments
class Options(Arguments):
    def compile_model(self, model): return torch.compile(model)
options = Options().parse()
"""


def test_the_only_helper_of_its_name_is_what_an_unknown_object_calls() -> None:
    assert names(HELPER + "fast = options.compile_model(Model())") == WHOLE


def test_one_of_two_helpers_of_a_name_is_not() -> None:
    second = "class Other:\n    def compile_model(self, model): return model\n"
    assert names(HELPER + second + "fast = options.compile_model(Model())") == set()


# --- keys -----------------------------------------------------------------------------------------------

PAIR = """
class Head(nn.Module):
    def forward(self, x): return cold(x)
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = Model(), Head()
    def forward(self, x): return x
made = {}
made["body"] = Model()
made["head"] = Head()
named = nn.ModuleDict(made)
"""
HEAD = {"Head.forward", "cold"}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('key == "head"', HEAD),
        ('key != "head"', WHOLE),
        ('key in ("head", "tail")', HEAD),
        ('not key == "body"', HEAD),
        ('key == "head" or key == "body"', WHOLE | HEAD),
        ('other == "head"', WHOLE | HEAD),
    ],
)
@pytest.mark.parametrize(
    "loop",
    [
        "for key in named.keys():\n    if {}:\n        named[key].compile()",
        "for key, part in named.items():\n    if {}:\n        part.compile()",
        "for key in named:\n    if {}:\n        named[key] = torch.compile(named[key])",
    ],
)
def test_a_test_of_the_key_in_a_loop_tells_what_is_compiled(loop: str, test: str, expected: set[str]) -> None:
    assert names(PAIR + loop.format(test)) == expected


def test_what_is_left_over_is_compiled_in_the_other_branch() -> None:
    loop = 'for key in named:\n    if key == "body":\n        pass\n    else:\n        named[key].compile()'
    assert names(PAIR + loop) == HEAD


def test_a_child_is_known_by_its_name() -> None:
    loop = 'for name, part in Both().named_children():\n    if name == "head":\n        part.compile()'
    assert names(PAIR + loop) == HEAD


def test_a_key_that_is_assigned_again_says_nothing() -> None:
    loop = 'for key in named:\n    if key == "head":\n        key = other()\n        named[key].compile()'
    assert names(PAIR + loop) == WHOLE | HEAD


def test_what_is_put_under_one_key_is_not_under_another() -> None:
    assert names(PAIR + 'made["head"].compile()') == HEAD
    assert names(PAIR + 'made[other] = Model()\nmade["head"].compile()') == HEAD | WHOLE


# --- torch.compile by another name ----------------------------------------------------------------------

FORWARDING = """
def quick(*args, **kwargs):
    if not hasattr(torch, "compile"):
        return args[0]
    return torch.compile(*args, **kwargs)
"""


@pytest.mark.parametrize("use", ["@quick\ndef f(x):", "@quick(dynamic=True)\ndef f(x):"])
def test_a_function_that_hands_everything_on_to_torch_compile_compiles_what_it_decorates(use: str) -> None:
    assert names(f"{FORWARDING}{use} return helper(x)") == {"f", "helper"}


def test_a_function_that_hands_everything_on_to_torch_compile_compiles_what_it_is_given() -> None:
    assert names(FORWARDING + "model = quick(Model(), dynamic=True)") == WHOLE
    assert names(FORWARDING + "model = Model()") == set()


def test_a_function_that_hands_everything_on_to_something_else_compiles_nothing() -> None:
    other = FORWARDING.replace("torch.compile(", "torch.no_grad(")
    assert names(other + "@quick\ndef f(x): return helper(x)") == set()


# --- methods that syntax runs ---------------------------------------------------------------------------

PLAIN = """
class Parts:
    def __init__(self, parts): self.parts = parts
    def __iter__(self): return iter(helper(self.parts))
    def __getitem__(self, index): return cold(index)
    def __len__(self): return len(self.parts)
@torch.compile
def f(x, other):
    parts = Parts(x)
    {}
"""
ALWAYS = {"f", "Parts.__init__"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for part in parts: x = part", {"Parts.__iter__", "helper"}),
        ("x = [part for part in parts]", {"Parts.__iter__", "helper"}),
        ("x = list(parts)", {"Parts.__iter__", "helper"}),
        ("x = parts[0]", {"Parts.__getitem__", "cold"}),
        ("return g(parts[0])", {"Parts.__getitem__", "cold"}),
        ("return len(parts)", {"Parts.__len__"}),
        ("for part in other: x = part", set()),
        ("return len(other) + other[0]", set()),
        ("return parts.parts[0]", set()),
        ("if not torch.compiler.is_compiling():\n        x = parts[0]", set()),
    ],
)
def test_special_methods_of_plain_classes_are_traced_where_syntax_runs_them(
    code: str, expected: set[str]
) -> None:
    assert names(PLAIN.format(code)) == ALWAYS | expected


# --- classes that decorate ------------------------------------------------------------------------------

LAZY = """
class Lazily:
    def __init__(self, function):
        self.function, self.compiled = function, None
    def __call__(self, *arguments):
        if self.compiled is None:
            self.compiled = torch.compile(self.function)
        return self.compiled(*arguments)
class Once:
    def __init__(self, **options): self.options = options
    def __call__(self, function): return torch.compile(function, **self.options)
class Plainly:
    def __init__(self, function): self.function = function
    def __call__(self, *arguments): return self.function(*arguments)
"""


@pytest.mark.parametrize("decorator", ["Lazily", "Once(dynamic=True)"])
def test_a_class_that_compiles_what_it_decorates_compiles_it(decorator: str) -> None:
    assert names(f"{LAZY}@{decorator}\ndef f(x): return helper(x)") == {"f", "helper"}


def test_a_class_that_only_holds_what_it_decorates_compiles_nothing() -> None:
    assert names(LAZY + "@Plainly\ndef f(x): return helper(x)\nf(1)") == set()


GUARD = """
import functools
class Guard:
    def __init__(self, fn, names=()): self.fn = fn
    def __call__(self, x): return self._run(x)
    def _run(self, x): return self.fn(checked(x))
def checked(x): return x
def guarded(*names): return functools.partial(Guard, names=names)
def plain(fn): return Guard(fn)
"""
AROUND = {"Guard.__call__", "Guard._run", "checked"}


@pytest.mark.parametrize(
    "decorator", ["Guard", "guarded('a')", "functools.partial(Guard, names=())", "plain"]
)
def test_the_object_that_a_decorator_puts_around_a_function_runs_with_it(decorator: str) -> None:
    code = f"""{GUARD}
@{decorator}
def inner(x): return helper(x)
@{decorator}
def other(x): return cold(x)
@torch.compile
def f(x): return inner(x)
"""
    assert names(code) == {"f", "inner", "helper"} | AROUND


@pytest.mark.parametrize(
    "decorator",
    ["Registry('a')", "Plain", "kept", "Layer", "documented", "documented('b')"],
)
def test_a_decorator_that_puts_no_object_around_a_function_adds_nothing(decorator: str) -> None:
    code = f"""{GUARD}
class Registry:
    def __init__(self, name): self.name = name
    def __call__(self, fn): return fn
class Plain:
    def __init__(self, fn): self.fn = fn
    def checks(self, x): return cold(x)
class Layer(nn.Module):
    def __init__(self, fn): super().__init__()
    def __call__(self, x): return cold(x)
def kept(fn):
    Guard(fn)
    return fn
def documented(what=None):
    def note(what): return what
    return note(what)
@documented
class Processor:
    def __call__(self, x): return cold(x)
documented(Processor())
@{decorator}
def inner(x): return helper(x)
@torch.compile
def f(x): return inner(x)
"""
    assert names(code) == {"f", "inner", "helper"}


def test_an_object_that_decorates_only_eager_functions_is_cold() -> None:
    code = GUARD + "@Guard\ndef inner(x): return helper(x)\n@torch.compile\ndef f(x): return helper(x)\n"
    assert names(code) == {"f", "helper"}


def test_a_function_of_a_library_that_is_compiled_under_its_own_name_still_runs_what_it_is_given() -> None:
    assert set(
        hot("""
        from torch.nn.attention.flex_attention import flex_attention
        flex_attention = torch.compile(flex_attention)
        def inner(q, k, v, mask):
            def score_mod(score, b, h, i, j): return torch.where(mask[b, i], score, -1.0)
            return flex_attention(q, k, v, score_mod=score_mod)
    """)
    ) == {"inner.<locals>.score_mod"}


def test_an_engine_that_is_compiled_compiles_the_model_it_was_given() -> None:
    assert hot("""
        import deepspeed
        class Critic(nn.Module):
            def forward(self, x): return x
        def prepare(model):
            engine, *_ = deepspeed.initialize(model=model, config={})
            engine.compile()
            return engine
        prepare(Critic())
    """) == {"Critic.forward": "likely"}


def test_what_a_wrapper_gives_back_is_not_what_it_was_given_under_the_same_name() -> None:
    assert set(
        hot("""
        def warm(*args):
            model = args[0]
            compiled = torch.compile(model)
            def run(*a): return compiled(*a)
            return run
        def main():
            def update(x): return x + 1
            update = warm(update)
            return update(torch.ones(2))
    """)
    ) == {"main.<locals>.update"}


def test_what_a_model_calls_with_or_without_what_it_need_not_be_given_is_not_certain() -> None:
    source = """
        def cached(x, cache): return x
        def plain(x, scale): return x
        class Model(nn.Module):
            def forward(self, x, cache=None, scale=1.0):
                if cache is None:
                    return plain(x, scale)
                else:
                    return cached(x, cache)
        model = torch.compile(Model())
    """
    assert hot(source) == {"Model.forward": "certain", "plain": "likely", "cached": "likely"}


def test_names_that_are_wrapped_twice_end() -> None:
    source = """
        def same(f): return f
        def main():
            def update(x): return x
            update = same(update)
            update = torch.compile(same(update))
            update = same(update)
    """
    assert set(hot(source)) == {"main.<locals>.update"}
