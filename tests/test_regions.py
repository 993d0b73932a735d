"""Regions: which functions Dynamo traces, how sure that is, and where tracing stops."""

from __future__ import annotations

import pytest

from dynamo_lint.program.refs import Confidence
from dynamo_lint.values.model import Slot, Text
from tests.programs import hot, resolve_text

BLOCK = """
class Block(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.lin = nn.Linear(dim, dim)
    def forward(self, x):
        return self._mix(x)
    def _mix(self, x):
        return helper(self.lin(x))
    def unused(self, x):
        return setup(x)

def helper(x): return x * 2
def setup(x): return x

class Model(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(n)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
BLOCK_ONLY = {"Block.forward", "Block._mix", "helper"}
WHOLE = BLOCK_ONLY | {"Model.forward"}


def program(compile_code: str) -> str:
    import textwrap

    return textwrap.dedent(BLOCK) + textwrap.dedent(compile_code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model = torch.compile(Model())", WHOLE),
        ("model = Model()\nmodel = torch.compile(model, fullgraph=True)", WHOLE),
        ("model = Model()\nmodel.compile()", WHOLE),
        ("model = Model().cuda().eval()\nmodel.compile()", WHOLE),
        ("step = torch.compile(lambda x: helper(x))", {"<lambda>", "helper"}),
        ("fast = torch.compile(helper)", {"helper"}),
        ("Block.forward = torch.compile(Block.forward)", BLOCK_ONLY),
        ("model = Model()\nmodel.forward = torch.compile(model.forward)", WHOLE),
        ("for layer in Model().layers:\n    layer.compile()", BLOCK_ONLY),
        (
            "m = Model()\nfor i, layer in enumerate(m.layers):\n    m.layers[i] = torch.compile(layer)",
            BLOCK_ONLY,
        ),
        ("m = Model()\nfor i in range(2):\n    m.layers[i] = torch.compile(m.layers[i])", BLOCK_ONLY),
        ("m = Model()\nfor name, layer in m.layers.named_children():\n    layer.compile()", BLOCK_ONLY),
        ("blocks = nn.ModuleList([torch.compile(Block()) for _ in range(3)])", BLOCK_ONLY),
        ("model = regional_compile(Block())", BLOCK_ONLY),
        ("import functools\nfast = functools.partial(torch.compile, dynamic=True)\nm = fast(Model())", WHOLE),
        ("fast = torch.compile(fullgraph=True)\nm = fast(Model())", WHOLE),
        ("m = torch.compile(mode='max-autotune')(Model())", WHOLE),
        ("from torch import compile as tc\nm = tc(Model())", WHOLE),
        ("def run(model: Model):\n    return torch.compile(model)", WHOLE),
        ("def run():\n    model = Model()\n    return torch.compile(model=model)", WHOLE),
        ("model = Model()\nmodel = torch.compile(model) if FAST else model", WHOLE),
        ("with regional_compile():\n    y = Block()(torch.ones(4))", BLOCK_ONLY),
    ],
)
def test_each_idiom_compiles_what_it_names(code: str, expected: set[str]) -> None:
    assert hot(program(code)) == dict.fromkeys(expected, "certain")


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


def test_a_decorated_method_and_a_decorated_class_are_compiled() -> None:
    assert hot("""
        class A(nn.Module):
            @torch.compile
            def step(self, x): return self.inner(x)
            def inner(self, x): return x
            def forward(self, x): return self.step(x)
        @torch.compile
        class B(nn.Module):
            def forward(self, x): return x
    """) == dict.fromkeys(("A.step", "A.inner", "B.forward"), "certain")


def test_an_alias_assigned_in_a_function_is_a_decorator_too() -> None:
    assert "f" in hot("""
        jit_fuser = torch.jit.script
        def enable():
            global jit_fuser
            jit_fuser = torch.compile
        @jit_fuser
        def f(x): return x
    """)


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
        program("m = Model()\nfor b in m.layers:\n    b.compile()\nf = torch.compile(helper)")
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


def test_regions_cross_files_by_import() -> None:
    files = {
        "pkg/__init__.py": "from .model import Model as Net\n",
        "pkg/blocks/__init__.py": "from pkg.blocks.moe import *\n",
        "pkg/blocks/moe.py": "from ..ops import gate\nclass MoE(nn.Module):\n    def forward(self, x): return gate(x)\n",
        "pkg/ops.py": "def gate(x): return x\ndef unused(x): return x\n",
        "pkg/model.py": "from pkg.blocks import MoE\nclass Model(nn.Module):\n    def __init__(self):\n"
        "        self.moe = MoE()\n    def forward(self, x): return self.moe(x)\n",
        "train.py": "import pkg\nmodel = torch.compile(pkg.Net())\n",
    }
    assert hot(files) == dict.fromkeys(
        ("pkg/model.py::Model.forward", "pkg/blocks/moe.py::MoE.forward", "pkg/ops.py::gate"), "certain"
    )


def test_of_two_modules_with_one_name_the_sibling_wins() -> None:
    def model(name: str) -> str:
        return f"class Net(nn.Module):\n    def forward(self, x): return self.{name}(x)\n    def {name}(self, x): return x\n"

    files = {
        "a/model.py": model("a"),
        "b/model.py": model("b"),
        "a/run.py": "from model import Net\nn = torch.compile(Net())\n",
    }
    assert set(hot(files)) == {"a/model.py::Net.forward", "a/model.py::Net.a"}


NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
RUNS = 'if __name__ == "__main__":\n    main()\n'
COMPILES = "def main():\n    return torch.compile(Net())\n"


def test_a_script_in_a_package_finds_what_lies_beside_it() -> None:
    files = {
        "td3/__init__.py": "",
        "td3/nets.py": NET,
        "td3/td3.py": NET,
        "td3/train.py": f"from nets import Net\n{COMPILES}{RUNS}",
    }
    assert set(hot(files)) == {"td3/nets.py::Net.forward"}
    files["td3/train.py"] = f"from td3 import Net\n{COMPILES}{RUNS}"
    assert set(hot(files)) == {"td3/td3.py::Net.forward"}


def test_what_a_script_of_a_package_imports_finds_it_as_well() -> None:
    files = {
        "td3/__init__.py": "",
        "td3/nets.py": NET,
        "td3/build.py": f"from nets import Net\n{COMPILES}",
        "td3/train.py": f"from build import main\n{RUNS}",
    }
    assert set(hot(files)) == {"td3/nets.py::Net.forward"}


def test_a_package_without_a_script_imports_no_sibling_by_its_bare_name() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/nets.py": NET,
        "pkg/train.py": f"from nets import Net\n{COMPILES}",
    }
    assert hot(files) == {}


def test_a_sibling_that_imports_its_own_name_is_made_for_a_library() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/wandb.py": f"import wandb\n{NET}",
        "pkg/log.py": f"from wandb import Net\n{COMPILES}",
        "pkg/tool.py": f"def main(): pass\n{RUNS}",
    }
    assert hot(files) == {}


def test_a_script_in_a_package_takes_types_and_torch_from_where_all_do() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/types.py": NET,
        "pkg/train.py": f"from types import Net\n{COMPILES}{RUNS}",
    }
    assert hot(files) == {}


def test_super_and_overrides_follow_the_class_of_self() -> None:
    assert hot("""
        class Base(nn.Module):
            def forward(self, x): return self.core(x)
            def core(self, x): return base_only(x)
        class Mid(Base):
            def forward(self, x): return super().forward(x)
        class Leaf(Mid):
            def core(self, x): return leaf_only(x)
        def base_only(x): return x
        def leaf_only(x): return x
        m = torch.compile(Leaf())
    """) == dict.fromkeys(("Mid.forward", "Base.forward", "Leaf.core", "leaf_only"), "certain")


def test_properties_nested_functions_and_function_arguments_are_traced() -> None:
    assert set(
        hot("""
        from torch.utils.checkpoint import checkpoint
        class A(nn.Module):
            @property
            def scale(self): return self._scale()
            def _scale(self): return 2
            @scale.setter
            def scale(self, v): rebuild()
            def forward(self, x):
                def inner(y): return deep(y)
                return checkpoint(self.body, inner(x) * self.scale)
            def body(self, x): return x
        def deep(y): return y
        def rebuild(): ...
        m = torch.compile(A())
    """)
    ) == {"A.forward", "A.scale", "A._scale", "A.forward.<locals>.inner", "deep", "A.body"}


def test_a_property_setter_is_traced_only_where_the_property_is_set() -> None:
    assert set(
        hot("""
        class A(nn.Module):
            @property
            def n(self): return self._n
            @n.setter
            def n(self, v): check(v)
            def forward(self, x):
                self.n = 3
                return x
        def check(v): ...
        m = torch.compile(A())
    """)
    ) == {"A.forward", "A.n", "check"}


def test_autograd_functions_are_traced_through_apply() -> None:
    assert set(
        hot("""
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return up(x)
            @staticmethod
            def backward(ctx, g): return down(g)
        def up(x): return x
        def down(x): return x
        @torch.compile
        def f(x): return F.apply(x)
    """)
    ) == {"f", "F.forward", "F.backward", "up", "down"}


def test_a_module_passed_to_the_constructor_is_likely() -> None:
    tiers = hot("""
        class Mixer(nn.Module):
            def forward(self, x): return x
        class Block(nn.Module):
            def __init__(self, mixer):
                super().__init__()
                self.mixer = mixer
            def forward(self, x): return self.mixer(x)
        m = torch.compile(Block(Mixer()))
    """)
    assert tiers == {"Block.forward": "certain", "Mixer.forward": "likely"}


def test_what_a_compiled_function_is_called_with_under_another_name_is_likely() -> None:
    assert hot("""
        class Net(nn.Module):
            def forward(self, x): return x
        def train_step(model, x): return model(x)
        step = torch.compile(train_step)
        def main():
            model = Net()
            step(model, 1)
    """) == {"train_step": "certain", "Net.forward": "likely"}


def test_a_wrapped_model_is_found_behind_module() -> None:
    assert hot("""
        from torch.nn.parallel import DistributedDataParallel as DDP
        class Net(nn.Module):
            def forward(self, x): return x
        model = DDP(Net())
        model.module.compile()
    """) == {"Net.forward": "likely"}


def test_containers_by_key_and_wrappers_are_looked_through() -> None:
    assert set(
        hot("""
        import copy
        class A(nn.Module):
            def forward(self, x): return x
        class B(nn.Module):
            def forward(self, x): return x
        class C(nn.Module):
            def forward(self, x): return x
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ModuleDict({"a": A(), "b": B()})
                self.seq = nn.Sequential(nn.Linear(2, 2), C())
            def forward(self, x): return self.seq(self.parts["a"](x))
        m = torch.compile(copy.deepcopy(M()).to("cpu"))
    """)
    ) == {"M.forward", "A.forward", "C.forward"}


@pytest.mark.parametrize(
    "decorator",
    [
        "@torch.compiler.disable",
        "@torch._dynamo.disable",
        "@torch.compiler.disable()",
        "@torch.compiler.allow_in_graph",
    ],
)
def test_disabled_and_opaque_functions_and_what_only_they_call_are_cold(decorator: str) -> None:
    assert set(
        hot(f"""
        class A(nn.Module):
            def forward(self, x):
                self.log(x)
                return x
            {decorator}
            def log(self, x): write(x)
        def write(x): ...
        m = torch.compile(A())
    """)
    ) == {"A.forward"}


def test_a_non_recursive_disable_hides_the_function_but_not_its_callees() -> None:
    assert set(
        hot("""
        @torch.compiler.disable(recursive=False)
        def outer(x): return inner(x)
        def inner(x): return x
        @torch.compile
        def f(x): return outer(x)
    """)
    ) == {"f", "inner"}


def test_calls_under_not_is_compiling_are_cold() -> None:
    assert set(
        hot("""
        def log(x): ...
        @torch.compile
        def f(x):
            if not torch.compiler.is_compiling():
                log(x)
            return x
    """)
    ) == {"f"}


def test_compile_with_disable_true_is_no_entry() -> None:
    assert hot(program("m = torch.compile(Model(), disable=True)")) == {}


@pytest.mark.parametrize(
    "decorator",
    [
        "@torch.compile(disable=True)",
        "@partial(torch.compile, disable=True)",
    ],
)
@pytest.mark.parametrize(
    "what", ["def f(x): return x", "class F(nn.Module):\n    def forward(self, x): return x"]
)
def test_a_decorator_with_disable_true_is_no_entry(decorator: str, what: str) -> None:
    text = f"from functools import partial\n{decorator}\n{what}\n"
    assert hot(text) == {}
    assert hot(text.replace("True", "False")) != {}


def test_what_a_decorator_with_disable_true_is_on_is_traced_where_compiled_code_calls_it() -> None:
    inner = "@torch.compile(disable=True)\ndef f(x): return x\n"
    assert set(hot(f"{inner}@torch.compile\ndef g(x): return f(x)\n")) == {"f", "g"}


def test_a_disable_expression_is_kept_as_the_condition() -> None:
    _, regions = resolve_text(program("m = torch.compile(Model(), disable=not cfg.fast)"))
    assert [e.condition for e in regions.entries] == ["disable=not cfg.fast"]


@pytest.mark.parametrize(
    "code",
    [
        "import re\npattern = re.compile('x')",
        "class Kernel:\n    def compile(self): ...\nKernel().compile()",
        "import cute\nfn = cute.compile(helper)",
        "def run(thing): thing.compile()",
        "src = compile('1', 'f', 'eval')",
    ],
)
def test_other_things_called_compile_are_not_entries(code: str) -> None:
    _, regions = resolve_text(program(code))
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
    assert hot(source, guesses=True) == {"Task.forward": "assumed"}
    assert hot(source) == {}


def test_a_module_without_any_entry_is_cold() -> None:
    assert hot(BLOCK) == {}


def test_an_unknown_target_is_reported_with_its_reason() -> None:
    _, regions = resolve_text("table = {}\nfn = torch.compile(table[name])\n")
    (site,) = regions.unresolved
    assert (site.line, site.expression) == (4, "torch.compile(table[name])")
    assert regions.entries == ()


def test_library_modules_are_compiled_but_nothing_of_ours_is_hot() -> None:
    _, regions = resolve_text("m = torch.compile(nn.Linear(2, 2))\n")
    assert regions.unresolved == ()
    assert regions.hot == ()


def test_region_comments_declare_and_eager_comments_cut() -> None:
    assert hot("""
        # dynamo-lint: region
        class MoE(nn.Module):
            def forward(self, x):
                self.note(x)
                return route(x)
            # dynamo-lint: eager
            def note(self, x): write(x)
        def route(x): return x
        def write(x): ...
    """) == {"MoE.forward": "certain", "route": "certain"}


def test_configured_regions_wrappers_and_cuts_are_followed() -> None:
    source = program("m = maybe_compile(cfg, Model())")
    assert hot(source, compile_wrappers=("m:maybe_compile#1",)) == {}  # nothing of that name is defined here
    defined = "def maybe_compile(cfg, model): return model\n" + source
    assert set(hot({"m.py": defined}, compile_wrappers=("m:maybe_compile#1",))) == WHOLE
    assert set(hot(BLOCK, declared=("m:Model",))) == WHOLE
    assert set(hot(BLOCK, declared=("m.*lock",))) == BLOCK_ONLY
    assert set(hot(BLOCK, declared=("m:Model",), cut=("m:helper",))) == WHOLE - {"helper"}


def test_what_stands_between_region_begin_and_end_is_compiled_and_nothing_else() -> None:
    assert set(
        hot("""
        def before(x): return x
        # dynamo-lint: region-begin
        def inside(x): return called(x)
        class Block(torch.nn.Module):
            def __init__(self): setup()
            def forward(self, x): return x
        # dynamo-lint: region-end
        def called(x): return x
        def setup(): ...
        def after(x): return inside(x)
        """)
    ) == {"inside", "called", "Block.forward"}


def test_half_a_pair_of_region_markers_is_reported() -> None:
    _, regions = resolve_text("# dynamo-lint: region-begin\ndef f(): ...\n")
    assert [(site.line, site.why) for site in regions.unresolved] == [
        (3, "the comment has no `# dynamo-lint: region-end`")  # below two lines of imports
    ]
    assert not regions.hot


def test_what_a_position_holds_is_equal_in_any_order_and_walked_in_its_own() -> None:
    a, b = (Text("a"), Confidence.CERTAIN), (Text("b"), Confidence.LIKELY)
    assert Slot([a, b]) == Slot([b, a])
    assert hash(Slot([a, b])) == hash(Slot([b, a]))
    assert list(Slot([b, a])) == [b, a]
    assert Slot([a]) != Slot([a, b])


def test_a_declared_name_that_matches_nothing_is_reported() -> None:
    _, regions = resolve_text(BLOCK, declared=("m:Gone",))
    assert [u.expression for u in regions.unresolved] == ['regions = ["m:Gone"]']


def test_assume_modules_takes_every_forward_and_assume_blocks_only_repeated_ones() -> None:
    assert hot(BLOCK, assume="modules") == dict.fromkeys(WHOLE, "likely")
    assert hot(BLOCK, assume="blocks") == dict.fromkeys(BLOCK_ONLY, "likely")


def test_every_hot_function_has_a_chain_from_its_entry() -> None:
    _, regions = resolve_text(program("m = torch.compile(Model())"))
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


def test_circular_imports_end_and_resolve() -> None:
    files = {
        "a.py": "from b import g\ndef f(x): return g(x)\nh = torch.compile(f)\n",
        "b.py": "from a import f\ndef g(x): return f(x)\n",
    }
    assert set(hot(files)) == {"a.py::f", "b.py::g"}
