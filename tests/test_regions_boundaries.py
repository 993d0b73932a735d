"""Regions: where tracing stops, and code that libraries compile for their users."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text

CALLED = """
@torch.compile
def f(x): return g(x)
def inner(x): return x
"""


@pytest.mark.parametrize(
    "code",
    [
        "def eager(fn): return torch.compiler.disable(fn)\n@eager\ndef g(x): return inner(x)",
        "def eager(fn):\n    @torch.compiler.disable\n    def run(*a): return fn(*a)\n    return run\n"
        "@eager\ndef g(x): return inner(x)",
        "def eager(recursive=True):\n    return lambda fn: torch._dynamo.disable(fn, recursive=recursive)\n"
        "@eager()\ndef g(x): return inner(x)",
        "def g(x): return inner(x)\ng = torch.compiler.disable(g)",
        "@torch.library.custom_op('a::g', mutates_args=())\ndef g(x): return inner(x)",
        "@torch.compiler.assume_constant_result\ndef g(x): return inner(x)",
    ],
)
def test_disabled_and_opaque_code_is_cold_however_it_is_spelt(code: str) -> None:
    assert set(hot(CALLED + code + "\n")) == {"f"}


@pytest.mark.parametrize(
    "code",
    [
        "def timed(fn):\n    def run(*a): return fn(*a)\n    return run\n@timed\ndef g(x): return inner(x)",
        "@torch.no_grad()\ndef g(x): return inner(x)",
        "@torch.jit.ignore\ndef g(x): return inner(x)",
        "import functools\n@functools.lru_cache\ndef g(x): return inner(x)",
    ],
)
def test_other_decorators_hide_nothing(code: str) -> None:
    assert {"f", "g", "inner"} <= set(hot(CALLED + code + "\n"))


def test_the_closure_of_a_decorator_runs_for_what_it_decorates_alone() -> None:
    assert set(
        hot("""
        def timed(fn):
            def run(*a):
                note()
                return fn(*a)
            return run
        def note(): ...
        @timed
        def used(x): return x
        @timed
        def unused(x): return x
        @torch.compile
        def f(x): return used(x)
    """)
    ) == {"f", "used", "timed.<locals>.run", "note"}


def test_allow_in_graph_hides_a_function_class_but_not_a_module_class() -> None:
    source = """
        @torch.compiler.allow_in_graph
        class Block({base}):
            @staticmethod
            def forward(ctx, x): return x
        @torch.compile
        def f(x, block: Block): return {call}
    """
    assert set(hot(source.format(base="torch.autograd.Function", call="Block.apply(x)"))) == {"f"}
    assert "Block.forward" in hot(source.format(base="nn.Module", call="block(x)"))


def test_a_project_helper_that_compiles_what_it_decorates_is_an_entry() -> None:
    assert set(
        hot("""
        def fast(fn): return torch.compile(fn, dynamic=True)
        def fast_with(mode):
            def wrap(fn): return torch.compile(fn, mode=mode)
            return wrap
        @fast
        def a(x): return x
        @fast_with("max")
        def b(x): return x
        @other
        def c(x): return x
    """)
    ) == {"a", "b"}


BLOCKS = """
class Block(nn.Module):
    def forward(self, x): return x
class Extra(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    _repeated_blocks = ["Block"]
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(4)])
        self.extra = Extra()
    def forward(self, x): return self.extra(x)
model = Model()
"""


def test_repeated_blocks_are_what_diffusers_compiles() -> None:
    source = BLOCKS + "model.compile_repeated_blocks(fullgraph=True)\n"
    assert set(hot(source)) == {"Block.forward"}
    _, regions = resolve_text(source)
    assert [(entry.idiom, entry.regional) for entry in regions.entries] == [("library", True)]


def test_repeated_blocks_are_cold_until_someone_compiles_them() -> None:
    assert hot(BLOCKS) == {}


def test_accelerate_compiles_the_elements_of_module_lists() -> None:
    imported = "from accelerate.utils import compile_regions\nmodel = compile_regions(model)\n"
    assert set(hot(BLOCKS + imported)) == {"Block.forward"}
    ours = "def compile_regions(model): ...\ncompile_regions(model)\n"
    assert hot(BLOCKS + ours) == {}


def test_a_trainer_with_torch_compile_compiles_its_model() -> None:
    code = """
from transformers import Trainer, TrainingArguments
trainer = Trainer(model=model, args=TrainingArguments("out", torch_compile={switch}))
"""
    assert hot(BLOCKS + code.format(switch=True)) == {"Model.forward": "likely", "Extra.forward": "likely"}
    assert hot(BLOCKS + code.format(switch=False)) == {}


@pytest.mark.parametrize(
    ("imported", "given", "compiled"),
    [
        ("from composer import Trainer", "compile_config={}", True),
        ("from composer import Trainer", "compile_config=cfg.compile_config", True),
        ("from composer import Trainer", "compile_config=None", False),
        ("from composer import Trainer", "run_name='run'", False),
        ("from transformers import Trainer", "compile_config={}", False),
        ("from elsewhere import Trainer", "compile_config={}", False),
    ],
)
def test_a_trainer_of_composer_compiles_its_model_if_it_is_told_how(
    imported: str, given: str, compiled: bool
) -> None:
    expected = {"Model.forward": "likely", "Extra.forward": "likely"} if compiled else {}
    assert hot(f"{BLOCKS}{imported}\ntrainer = Trainer(model=model, {given})\n") == expected


LIBRARY_MODEL = """
from composer.models import HuggingFaceModel
class Net(nn.Module):
    def forward(self, x): return x
class Metric(nn.Module):
    def forward(self, x): return x
class Engine:
    def __init__(self): self.model, self.network = None, None
class Heir(HuggingFaceModel): pass
class Own(HuggingFaceModel):
    def __init__(self, model): super().__init__()
class Wrapper({base}):
    def __init__(self, width):
        net = Net()
        {call}
    def forward(self, x): return self.model(x)
compiled = torch.compile(Wrapper(1))
"""


@pytest.mark.parametrize(
    ("base", "call", "expected"),
    [
        ("HuggingFaceModel", "super().__init__(model=net, metric=Metric())", {"Net.forward"}),
        ("Heir", "super().__init__(model=net)", {"Net.forward"}),
        ("HuggingFaceModel", "super().__init__(net)", set()),
        ("HuggingFaceModel", "super().__init__(network=net)", set()),
        ("HuggingFaceModel", "super().__init__(model=Net)", set()),
        ("HuggingFaceModel", "super().build(model=net)", set()),
        ("Own", "super().__init__(model=net)", set()),
    ],
)
def test_the_class_of_a_library_keeps_a_module_under_the_name_it_is_handed_by(
    base: str, call: str, expected: set[str]
) -> None:
    assert set(hot(LIBRARY_MODEL.format(base=base, call=call))) == {"Wrapper.forward", *expected}


def test_vllm_compiles_the_classes_it_decorates() -> None:
    code = "from vllm.compilation.decorators import support_torch_compile\n"
    decorated = code + BLOCKS.replace("class Extra", "@support_torch_compile\nclass Extra")
    assert set(hot(decorated)) == {"Extra.forward"}
    assert hot(code + BLOCKS) == {}


@pytest.mark.parametrize("form", ["support_torch_compile", "support_torch_compile(dynamic_arg_dims={})"])
def test_vllm_compiles_the_classes_it_decorates_in_its_own_code(form: str) -> None:
    model = (
        "from {home} import support_torch_compile\nfrom torch import nn\n@{form}\nclass Model(nn.Module):\n"
    )
    forward = "    def forward(self, x): return x\n"
    marked = "def support_torch_compile(cls=None, **options):\n    return mark(cls) if cls else mark\n"
    mark = "def mark(cls):\n    cls.__bases__ += (Wrapper,)\n    return cls\nclass Wrapper: pass\n"
    for home, expected in (
        ("vllm.compilation.decorators", {"vllm/model.py::Model.forward"}),
        ("vllm.other", set()),
    ):
        files = {"vllm/__init__.py": "", "vllm/compilation/__init__.py": ""}
        files[home.replace(".", "/") + ".py"] = marked + mark
        files["vllm/model.py"] = model.format(home=home, form=form) + forward
        assert set(hot(files)) == expected


OPERATOR = """
def attend(x): return kernel(x)
def kernel(x): return x
class Net(nn.Module):
    def forward(self, x):
        if opaque():
            return {operator}
        return {direct}
compiled = torch.compile(Net())
"""


@pytest.mark.parametrize("operator", ["torch.ops.lib.attend(x)", "torch.ops.lib.attend.default(x)"])
def test_what_an_operator_is_made_of_is_only_assumed_beside_it(operator: str) -> None:
    found = hot(OPERATOR.format(operator=operator, direct="attend(x)"), guesses=True)
    assert found == {"Net.forward": "certain", "attend": "assumed", "kernel": "assumed"}


@pytest.mark.parametrize(
    ("operator", "direct"),
    [
        ("torch.ops.lib.other(x)", "attend(x)"),
        ("torch.nn.functional.attend(x)", "attend(x)"),
        ("ops.lib.attend(x)", "attend(x)"),
        ("x", "attend(x)"),
    ],
)
def test_a_call_without_an_operator_of_its_name_is_no_less_sure(operator: str, direct: str) -> None:
    found = hot(OPERATOR.format(operator=operator, direct=direct), guesses=True)
    assert found == {"Net.forward": "certain", "attend": "certain", "kernel": "certain"}


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


def test_star_imports_of_missing_modules_hide_nothing() -> None:
    source = "from missing import *\nfrom .gone import *\ndef g(x): return x\n@torch.compile\ndef f(x): return g(h(x))\n"
    assert set(hot(source)) == {"f", "g"}


def test_classes_that_inherit_from_themselves_through_aliases_end() -> None:
    files = {
        "a.py": "from b import B as Base\nclass A(Base, nn.Module):\n    def forward(self, x): return x\n",
        "b.py": "from a import A\nB = A\nm = torch.compile(B())\n",
    }
    assert set(hot(files)) == {"a.py::A.forward"}


def test_a_target_that_does_not_exist_is_reported_with_the_names_it_may_mean() -> None:
    _, regions = resolve_text("""
        class ImageEncoder(nn.Module):
            def forward(self, x): return x
        class Model(nn.Module):
            def __init__(self, image_encoder):
                super().__init__()
                self.image_encoder = image_encoder
                self.image_encoder.forward = torch.compile(self.image_encoder.forward)
        step = torch.compile(gone)
    """)
    found = {site.expression: site.candidates for site in regions.unresolved}
    assert found == {
        "torch.compile(self.image_encoder.forward)": ("m:ImageEncoder",),
        "torch.compile(gone)": (),
    }


def test_duplicate_module_names_resolve_to_the_nearest() -> None:
    files = {
        "x/util.py": "def g(x): return x\n",
        "y/util.py": "def g(x): return x\n",
        "x/run.py": "from util import g\n@torch.compile\ndef f(x): return g(x)\n",
    }
    assert set(hot(files)) == {"x/run.py::f", "x/util.py::g"}


@pytest.mark.parametrize("used", ["@document", "@document(intro='does it')"])
def test_a_decorator_that_gives_back_what_it_decorates_has_run_before_anything_is_compiled(used: str) -> None:
    code = f"""
        def document(fn=None, *, intro=None):
            def decorator(fn):
                return describe(fn, intro)
            if fn:
                return decorator(fn)
            return decorator
        def describe(fn, intro):
            fn.__doc__ = intro
            return fn
        {used}
        def step(x): return x
        @torch.compile
        def f(x): return step(x)
    """
    assert set(hot(code)) == {"f", "step"}


def test_a_decorator_that_may_be_called_with_options_leads_to_nothing_but_what_it_decorates() -> None:
    assert set(
        hot("""
        import functools
        def guard(fn=None, *, strict=False):
            def decorator(fn):
                @functools.wraps(fn)
                def wrapper(*args): return fn(*check(args))
                return wrapper
            return decorator if fn is None else decorator(fn)
        def check(args): return args
        @guard
        def used(x): return x
        @guard(strict=True)
        def unused(x): return deep(x)
        def deep(x): return x
        @torch.compile
        def f(x): return used(x)
    """)
    ) == {"f", "used", "guard.<locals>.decorator.<locals>.wrapper", "check"}
