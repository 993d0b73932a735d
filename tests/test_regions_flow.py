"""Regions: values that reach a compiled call through parameters, registries, texts, hooks and swaps."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text


def test_what_is_injected_against_the_annotation_of_a_constructor_is_likely() -> None:
    assert hot("""
        class Attention(nn.Module):
            def forward(self, x): return x
        class Other(nn.Module):
            def forward(self, x): return x
        class Never(nn.Module):
            def forward(self, x): return x
        class Block(nn.Module):
            def __init__(self, attn: Attention):
                super().__init__()
                self.attn = attn
            def forward(self, x): return self.attn(x)
        b = Block(Other())
        b.compile()
    """) == {"Block.forward": "certain", "Attention.forward": "certain", "Other.forward": "likely"}


def test_what_is_passed_to_an_annotated_function_is_no_evidence_against_its_annotation() -> None:
    assert hot("""
        class Model(nn.Module):
            def forward(self, x): return x
        class Adapted(Model):
            def forward(self, x): return x
        @torch.compile
        def step(model: Model, x): return model(x)
        def eager_only(x): return step(Adapted(), x)
    """) == {"step": "certain", "Model.forward": "certain"}


def test_a_text_table_names_the_classes_that_getattr_looks_up() -> None:
    assert hot("""
        import m
        class GLU(nn.Module):
            def forward(self, x): return x
        class Plain(nn.Module):
            def forward(self, x): return x
        class Unused(nn.Module):
            def forward(self, x): return x
        class Config:
            mlp_name: str
        TABLE = [dict(name="a", mlp_name="GLU"), {"name": "b", "mlp_name": "Plain"}]
        class Model(nn.Module):
            def __init__(self, cfg: Config):
                super().__init__()
                self.mlp = getattr(m, cfg.mlp_name)()
            def forward(self, x): return self.mlp(x)
        model = torch.compile(Model(Config()))
    """) == {"Model.forward": "certain", "GLU.forward": "likely", "Plain.forward": "likely"}


def test_a_literal_annotation_names_the_classes_that_getattr_looks_up() -> None:
    assert set(
        hot("""
        import m
        from typing import Literal
        class A(nn.Module):
            def forward(self, x): return x
        class B(nn.Module):
            def forward(self, x): return x
        class Config:
            kind: Literal["A"] = "A"
        class Model(nn.Module):
            def __init__(self, cfg: Config):
                super().__init__()
                self.inner = getattr(m, cfg.kind)()
            def forward(self, x): return self.inner(x)
        model = torch.compile(Model(Config()))
    """)
    ) == {"Model.forward", "A.forward"}


HOOKED = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
def after(module, args, output): return note(output)
def note(x): return x
def watch(net: Net, other: Other):
    net.{register}(after)
    other.register_forward_hook(lambda m, a, o: o)
"""


def test_forward_hooks_of_a_compiled_module_are_traced() -> None:
    for register in ("register_forward_hook", "register_forward_pre_hook"):
        assert hot(HOOKED.format(register=register) + "m = torch.compile(Net())\n") == {
            "Net.forward": "certain",
            "after": "likely",
            "note": "likely",
        }


def test_backward_hooks_and_hooks_of_a_compiled_forward_are_not_traced() -> None:
    assert set(hot(HOOKED.format(register="register_full_backward_hook") + "m = torch.compile(Net())\n")) == {
        "Net.forward"
    }
    bound = "n = Net()\nn.forward = torch.compile(n.forward)\n"
    assert set(hot(HOOKED.format(register="register_forward_hook") + bound)) == {"Net.forward"}


LOOKED_INTO = """
class Net(nn.Module):
    def forward(self, x): return x
def sizes(net: Net, x):
    found = []
    handle = net.register_forward_hook(lambda m, a, o: found.append(o.shape))
    {then}
    handle.remove()
    return found
"""


def test_a_hook_that_is_taken_off_again_belongs_to_whoever_looks_into_the_model() -> None:
    source = LOOKED_INTO.format(then="net(x)") + "m = torch.compile(Net())\n"
    assert set(hot(source)) == {"Net.forward"}


def test_a_hook_that_is_taken_off_after_what_is_compiled_beneath_it_has_run_is_traced() -> None:
    source = LOOKED_INTO.format(then="compiled = torch.compile(net)(x)")
    assert set(hot(source)) == {"Net.forward", "sizes.<locals>.<lambda>"}


TESTED = {
    "lib.py": """
        class Net(nn.Module):
            def __init__(self, act):
                super().__init__()
                self.act = act
            def forward(self, x): return self.act(x)
        def fast(model): return torch.compile(model)
    """,
    "test_a.py": """
        from lib import Net
        def test_plain():
            def act(x): return x
            Net(act)(torch.ones(2))
    """,
    "test_b.py": """
        from lib import Net, fast
        def test_compiled():
            def act(x): return x * 2
            fast(Net(act))(torch.ones(2))
        def test_plain():
            def act(x): return x * 3
            Net(act)(torch.ones(2))
    """,
}


def test_what_a_test_makes_is_run_by_no_code_that_its_file_does_not_call() -> None:
    found = set(hot(TESTED))
    assert {"lib.py::Net.forward", "test_b.py::test_compiled.<locals>.act"} <= found
    assert "test_a.py::test_plain.<locals>.act" not in found


def test_what_a_test_makes_is_not_compiled_by_another_test() -> None:
    source = TESTED["test_b.py"].replace("fast(Net(act))", "compiled = torch.compile(Net(act))")
    found = set(hot(TESTED | {"test_b.py": source}))
    assert "test_b.py::test_compiled.<locals>.act" in found
    assert "test_b.py::test_plain.<locals>.act" not in found


NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
MAIN = "from lib import Net\nfast = torch.compile(Net())\n"


@pytest.mark.parametrize(
    "path", ["test_net.py", "tests/run.py", "net_test.py", "conftest.py", "pkg/test/run.py"]
)
def test_what_tests_alone_compile_is_likely(path: str) -> None:
    assert hot({"lib.py": NET, path: MAIN}) == {"lib.py::Net.forward": "likely"}
    assert set(hot({path: "@torch.compile\ndef f(x): return x\n"}).values()) == {"likely"}


@pytest.mark.parametrize("path", ["main.py", "test.py", "testing.py", "latest_net.py", "contests/run.py"])
def test_what_other_code_compiles_is_certain(path: str) -> None:
    assert hot({"lib.py": NET, path: MAIN}) == {"lib.py::Net.forward": "certain"}


def test_what_a_user_compiles_as_a_test_does_is_certain() -> None:
    assert hot({"lib.py": NET, "test_net.py": MAIN, "main.py": MAIN}) == {"lib.py::Net.forward": "certain"}


def test_a_function_that_evaluates_a_model_on_its_test_set_is_no_test() -> None:
    source = "from lib import Net\ndef test_epoch(x): return torch.compile(Net())(x)\n"
    assert hot({"lib.py": NET, "main.py": source}) == {"lib.py::Net.forward": "certain"}


def test_a_chain_says_that_a_test_compiles() -> None:
    _, regions = resolve_text({"lib.py": NET, "test_net.py": MAIN})
    assert [hot.chain[0].note for hot in regions.hot] == ["compiled here, by a test"]


SWAPPED = """
class Int8Linear(nn.Module):
    def forward(self, x): return x
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(2, 2)
        self.norm = nn.LayerNorm(2)
    def forward(self, x): return self.norm(self.proj(x))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()
    def forward(self, x): return self.head(x)
def quantize(module):
    for name, child in module.named_children():
        if isinstance(child, nn.{kind}):
            setattr(module, name, Int8Linear())
        else:
            quantize(child)
net = Net()
quantize(net)
net = torch.compile(net)
"""


def test_a_module_that_is_put_in_the_place_of_another_is_likely() -> None:
    assert hot(SWAPPED.format(kind="Linear")) == {
        "Net.forward": "certain",
        "Head.forward": "certain",
        "Int8Linear.forward": "likely",
    }


def test_a_swap_of_modules_that_the_model_does_not_have_is_cold() -> None:
    assert set(hot(SWAPPED.format(kind="Conv2d"))) == {"Net.forward", "Head.forward"}


def test_a_test_of_what_a_module_is_put_into_does_not_say_what_it_replaces() -> None:
    assert set(
        hot("""
        class Tree(nn.Module):
            def forward(self, x): return x
        class Leaf(Tree): ...
        class Extra(nn.Module):
            def forward(self, x): return x
        class Root(Tree):
            def __init__(self):
                super().__init__()
                self.child = Leaf()
            def forward(self, x): return self.child(x)
        def put(tree: nn.Module, name):
            if isinstance(tree, Tree):
                setattr(tree, name, Extra())
        root = Root()
        put(root, "extra")
        compiled = torch.compile(root)
        """)
    ) == {"Root.forward", "Tree.forward"}


def test_a_registry_row_pairs_a_model_with_the_function_that_compiles_it() -> None:
    assert hot("""
        from dataclasses import dataclass
        class LlamaBlock(nn.Module):
            def forward(self, x): return x
        class Llama(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([LlamaBlock()])
        class FluxBlock(nn.Module):
            def forward(self, x): return x
        class Flux(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([FluxBlock()])
        def parallelize_llama(model: nn.Module):
            for layer in model.layers:
                layer.compile()
        def parallelize_flux(model: nn.Module): ...
        @dataclass
        class Spec:
            cls: type[nn.Module]
            parallelize: object
        SPECS = {}
        def register(spec: Spec): SPECS[spec.cls] = spec
        register(Spec(cls=Llama, parallelize=parallelize_llama))
        register(Spec(cls=Flux, parallelize=parallelize_flux))
        def get_spec(name) -> Spec: return SPECS[name]
        def train(name):
            spec = get_spec(name)
            model = spec.cls()
            spec.parallelize(model)
    """) == {"LlamaBlock.forward": "likely"}


def test_a_config_nested_in_a_class_builds_that_class() -> None:
    assert hot("""
        class Buildable:
            class Config: ...
        class Block(nn.Module):
            class Config(Buildable.Config): ...
            def forward(self, x): return x
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block.Config().build()
            def forward(self, x): return self.block(x)
        m = torch.compile(Model())
    """) == {"Model.forward": "certain", "Block.forward": "likely"}


MANY = "\n".join(
    f"class M{i}(nn.Module):\n    def forward(self, x): return x\nmake(M{i}())" for i in range(12)
)


def test_a_config_that_inherits_its_builder_builds_the_class_it_is_nested_in() -> None:
    assert hot("""
        class Buildable:
            class Config:
                owner = None
                def build(self, **given): return self.owner(config=self, **given)
        class Module(nn.Module, Buildable):
            class Config(Buildable.Config):
                def build(self, **given):
                    made = Buildable.Config.build(self, **given)
                    return made
        class Norm(Module):
            class Config(Module.Config): ...
            def forward(self, x): return x
        class Unused(Module):
            class Config(Module.Config): ...
            def forward(self, x): return x
        class Decoder(Module):
            class Config(Module.Config):
                part: Module.Config
            def __init__(self, config: Config):
                super().__init__()
                self.part = config.part.build()
            def forward(self, x): return self.part(x)
        class Llama(Decoder):
            class Config(Decoder.Config): ...
        def make(): return Llama.Config(part=Norm.Config())
        def train(model: Llama): compiled = torch.compile(model)
    """) == {"Decoder.forward": "certain", "Norm.forward": "likely"}


def test_a_class_is_known_however_often_other_classes_of_its_name_are_constructed() -> None:
    others = "\n".join(f"Other{i}.Config(part=Norm())" for i in range(300))
    assert hot(
        f"""
class Norm(nn.Module):
    def forward(self, x): return x
class Conv(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    class Config:
        part: object
    def __init__(self, config: Config): self.part = config.part
    def forward(self, x): return self.part(x)
{others}
Model.Config(part=Conv())
compiled = torch.compile(Model(None))
"""
    ) == {"Model.forward": "certain", "Conv.forward": "likely"}


def test_a_slot_with_more_classes_than_a_model_has_is_only_assumed() -> None:
    source = f"""{MANY}
class Holder:
    def __init__(self, inner): self.inner = inner
def make(inner): return Holder(inner)
def step(holder: Holder): compiled = torch.compile(holder.inner)
"""
    assert hot(source) == {}
    assert set(hot(source, guesses=True).values()) == {"assumed"}


MODELS = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(12))
PACKAGE = "class {name}({base}):\n    def make(self): return M{i}()\n"
TASK = """
class Task(nn.Module):
    def __init__(self, package):
        super().__init__()
        self.backbone = package.make()
    def forward(self, x): return self.backbone(x)
"""


def used(classes: str, made: str) -> set[str]:
    """What is likely of tasks that are compiled, each made with what one of twelve packages makes."""
    uses = "".join(f"torch.compile(Task({made.format(i=i)}))(x)\n" for i in range(12))
    return set(hot(MODELS + classes + TASK + uses))


def packages(base: str) -> str:
    return "".join(PACKAGE.format(name=f"P{i}", base=base, i=i) for i in range(12))


def test_what_heirs_of_one_class_make_by_a_method_of_their_own_is_a_choice_however_many_there_are() -> None:
    base = "class Package:\n    def make(self): raise NotImplementedError\n"
    assert used(base + packages("Package"), "P{i}()") == {
        "Task.forward",
        *(f"M{i}.forward" for i in range(12)),
    }


@pytest.mark.parametrize("base", ["object", "abc.ABC", "enum.Enum"])
def test_what_classes_make_that_only_share_the_name_of_a_method_is_a_generic_slot(base: str) -> None:
    assert used(packages(base), "P{i}()") == {"Task.forward"}


def test_what_one_inherited_method_makes_of_what_it_is_given_is_a_generic_slot() -> None:
    base = "class Package:\n    def __init__(self, kind): self.kind = kind\n    def make(self): return self.kind()\n"
    heirs = "".join(f"class P{i}(Package): pass\n" for i in range(12))
    assert used(base + heirs, "P{i}(M{i})") == {"Task.forward"}


def test_a_helper_compiles_what_each_of_its_calls_gives_it_however_many_they_are() -> None:
    found = hot(f"{MANY}\ndef make(inner):\n    for block in [inner]:\n        block.compile()\n")
    assert found == {f"M{i}.forward": "likely" for i in range(12)}


def test_what_calls_give_a_helper_is_no_evidence_against_its_annotation() -> None:
    source = f"{MANY}\ndef make(inner: M3):\n    compiled = torch.compile(inner)\n"
    assert hot(source) == {"M3.forward": "certain"}


def test_a_factory_gives_each_call_what_it_passed() -> None:
    assert hot("""
        class A(nn.Module):
            def forward(self, x): return x
        class B(nn.Module):
            def forward(self, x): return x
        def prepare(model):
            model.eval()
            return model
        a = torch.compile(prepare(A()))
        b = prepare(B())
    """) == {"A.forward": "likely"}


def test_an_isinstance_test_leaves_only_what_passes_it() -> None:
    assert set(
        hot("""
        class A(nn.Module):
            def forward(self, x): return x
        class B(nn.Module):
            def forward(self, x): return x
        def speed_up(model):
            if isinstance(model, A):
                return model
            compiled = torch.compile(model)
        speed_up(A())
        speed_up(B())
    """)
    ) == {"B.forward"}


def test_variables_of_other_files_hold_what_those_assign() -> None:
    files = {
        "ops.py": "from types import SimpleNamespace\ndef fast(x): return x\ndef slow(x): return x\n"
        "ops = SimpleNamespace(run=fast)\n",
        "a.py": "from ops import ops\n@torch.compile\ndef f(x): return ops.run(x)\n",
        "b.py": "from ops import *\n@torch.compile\ndef f(x): return ops.run(x)\n",
    }
    assert set(hot(files)) == {"a.py::f", "b.py::f", "ops.py::fast"}


def test_local_lists_and_module_containers_of_their_own_class_are_looked_into() -> None:
    assert set(
        hot("""
        class A(nn.Module):
            def forward(self, x): return x
        class Stack(nn.Sequential):
            def __init__(self):
                super().__init__()
                for i in range(3):
                    self.add_module(f"layer{i}", A())
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                layers = []
                for _ in range(2):
                    layers.append(B())
                self.layers = nn.ModuleList(layers)
                self.stack = Stack()
            def forward(self, x):
                for layer in self.stack:
                    x = layer(x)
                return self.layers[0](x)
        class B(nn.Module):
            def forward(self, x): return x
        m = torch.compile(Model())
    """)
    ) == {"Model.forward", "A.forward", "B.forward"}


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


BASES = """
    from abc import ABC, abstractmethod
    class Layer(ABC):
        def reset(self): return 0
        @abstractmethod
        def update(self, x): ...
    class Cache:
        layers: list[Layer]
        def update(self, x): return self.layers[0].update(x)
"""


def test_an_abstract_method_runs_what_the_heirs_make_of_it() -> None:
    assert hot(
        BASES
        + """
    class Growing(Layer):
        def update(self, x): return self.init(x)
        def init(self, x): return x
    class Fixed(Growing):
        def init(self, x): return x + 1
    class Half(Layer):
        @abstractmethod
        def more(self): ...
    @torch.compile
    def step(cache: Cache, x): return cache.update(x)
    """
    ) == {
        "step": "certain",
        "Cache.update": "certain",
        "Growing.update": "likely",
        "Growing.init": "likely",
        "Fixed.init": "likely",
    }


def test_a_method_that_a_base_implements_runs_on_a_base_that_can_be_instantiated() -> None:
    assert hot("""
    class Cache:
        def update(self, x): return x
    class Special(Cache):
        def update(self, x): return x + 1
    @torch.compile
    def step(cache: Cache, x): return cache.update(x)
    """) == {"step": "certain", "Cache.update": "certain"}


def test_an_abstract_base_of_too_many_classes_leads_nowhere() -> None:
    heirs = "\n".join(f"    class L{n}(Layer):\n        def update(self, x): return x" for n in range(50))
    assert hot(
        BASES
        + heirs
        + """
    @torch.compile
    def step(layer: Layer, x): return layer.update(x)
    """
    ) == {"step": "certain"}


def test_an_attribute_that_only_an_heir_has_is_that_of_the_heir() -> None:
    assert hot("""
    class Cache:
        def update(self, x): return x
    class Indexed(Cache):
        def update_index(self, x): return x
    class Other(Cache):
        def elsewhere(self, x): return x
    @torch.compile
    def step(cache: Cache | None, x): return cache.update_index(x)
    """) == {"step": "certain", "Indexed.update_index": "likely"}


def test_an_attribute_that_the_base_has_is_not_looked_for_in_its_heirs() -> None:
    assert hot("""
    class Cache:
        def __init__(self): self.head = None
    class Indexed(Cache):
        def __init__(self): self.head = Head()
    class Head:
        def run(self, x): return x
    @torch.compile
    def step(cache: Cache, x): return cache.head.run(x)
    """) == {"step": "certain"}


@pytest.mark.parametrize(
    "wanted",
    [
        "from parts.layers import blocks\nmodel = blocks.Model()",
        "from parts.layers.blocks import Model\nmodel = Model()",
        "from parts.layers import blocks as b\nclass Own(b.Model): ...\nmodel = Own()",
    ],
)
def test_the_modules_of_a_namespace_package_are_found(wanted: str) -> None:
    files = {
        "lib/parts/layers/blocks.py": "class Model(nn.Module):\n    def forward(self, x): return x\n",
        "lib/main/run.py": f"{wanted}\nmodel.compile()\n",
    }
    assert hot(files) == {"lib/parts/layers/blocks.py::Model.forward": "certain"}


@pytest.mark.parametrize("wanted", ["from torch.layers import blocks", "from other.layers import blocks"])
def test_a_module_of_another_package_is_not_one_of_ours(wanted: str) -> None:
    files = {
        "lib/parts/layers/blocks.py": "class Model(nn.Module):\n    def forward(self, x): return x\n",
        "lib/main/run.py": f"{wanted}\nblocks.Model().compile()\n",
    }
    assert hot(files) == {}


def test_leading_dots_count_folders_whatever_these_are_called() -> None:
    block = "class Block(nn.Module):\n    def forward(self, x): return x\n"
    files = {
        "My-Node 1.0/__init__.py": "",
        "My-Node 1.0/nodes.py": "from .parts.model import Block\nfrom . import other\ncompiled = torch.compile(Block())",
        "My-Node 1.0/other.py": block,
        "My-Node 1.0/parts/model.py": "from ..lib.deep import Inner\n"
        "class Block(nn.Module):\n    def __init__(self): self.inner = Inner()\n"
        "    def forward(self, x): return self.inner(x)\n",
        "My-Node 1.0/lib/deep.py": block.replace("Block", "Inner"),
        "parts/model.py": block,
    }
    assert set(hot(files)) == {
        "My-Node 1.0/parts/model.py::Block.forward",
        "My-Node 1.0/lib/deep.py::Inner.forward",
    }


@pytest.mark.parametrize("dots", [".", "...", "....."])
def test_leading_dots_that_lead_nowhere_name_no_file(dots: str) -> None:
    files = {
        "a/b/use.py": f"from {dots}parts import Block\ncompiled = torch.compile(Block())",
        "a/parts.py": "class Block(nn.Module):\n    def forward(self, x): return x\n",
    }
    assert set(hot(files)) == set()


BESIDE = {
    "a/b/parts.py": "class Block(nn.Module):\n    def forward(self, x): return x\n",
    "a/parts.py": "class Block(nn.Module):\n    def forward(self, x): return x\n",
}


@pytest.mark.parametrize(
    ("wanted", "file"),
    [
        ("from . import parts", "a/b/parts.py"),
        ("from . import parts as p; parts = p", "a/b/parts.py"),
        ("from .. import parts", "a/parts.py"),
        ("from ..b import parts", "a/b/parts.py"),
    ],
)
def test_dots_alone_name_a_folder_that_is_no_package(wanted: str, file: str) -> None:
    use = f"{wanted}\ncompiled = torch.compile(parts.Block())\n"
    assert set(hot({**BESIDE, "a/b/use.py": use})) == {f"{file}::Block.forward"}


@pytest.mark.parametrize(
    "wanted",
    [
        "from .... import parts",
        "from . import parts",
        "from .c import parts",
        "from .. import other as parts",
    ],
)
def test_dots_alone_name_no_other_folder(wanted: str) -> None:
    use = f"{wanted}\ncompiled = torch.compile(parts.Block())\n"
    assert not hot({**BESIDE, "a/b/c/use.py": "", "a/b/d/use.py": use})


def test_what_a_package_binds_itself_is_not_the_module_beside_it() -> None:
    own = "class parts:\n    class Block: ...\n"
    use = "from . import parts\ncompiled = torch.compile(parts.Block())\n"
    assert not hot({**BESIDE, "a/b/__init__.py": own, "a/b/use.py": use})


@pytest.mark.parametrize("base", ["ModelMixin", "MessagePassing", "SomeStrangeBase"])
def test_a_class_with_a_forward_and_a_base_of_a_library_is_a_module(base: str) -> None:
    code = f"""
        from library import {base}
        class Conv({base}):
            def forward(self, x): return x
        Conv().compile()
        class Twice(nn.Module):
            def __init__(self): self.conv = Conv()
            def forward(self, x): return self.conv(x)
        """
    assert set(hot(code)) == {"Conv.forward"}
    assert set(hot(code + "compiled = torch.compile(Twice())\n")) == {"Conv.forward", "Twice.forward"}


@pytest.mark.parametrize(
    "head",
    [
        "import abc\nclass Conv(abc.ABC):",
        "import enum\nclass Conv(enum.Enum):",
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Conv(Generic[T]):",
        "class Conv(dict):",
        "class Conv:",
    ],
)
def test_a_forward_alone_makes_no_module(head: str) -> None:
    code = f"{head}\n    def forward(self, x): return x\n    def compile(self): ...\nConv().compile()\n"
    assert set(hot(code)) == set()
    use = "@torch.compile\ndef step(conv: Conv, x): return conv(x)\n"
    assert set(hot(code + use)) == {"step"}


def test_the_static_forward_of_an_autograd_function_makes_no_module() -> None:
    code = """
        from library import Function
        class Twice(Function):
            @staticmethod
            def forward(ctx, x): return x
        Twice().compile()
        """
    assert set(hot(code)) == set()


HUNG = """
from library import Patcher, load
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x): return x
class Held(Patcher): ...
"""
COMPILES = "for i, block in enumerate({}): compiled = torch.compile(block)\n"


def test_what_code_hangs_on_an_object_of_a_library_is_found_by_its_name() -> None:
    code = HUNG + "held = Held()\nheld.the_net = Net()\npatcher = Patcher(held)\n"
    assert hot(code + COMPILES.format("patcher.model.the_net.blocks")) == {"Block.forward": "likely"}
    assert hot(code + "patcher.model.the_net.compile()\n") == {}  # nothing says that it is a module's
    assert hot(code + "patcher.model.the_net.compile(fullgraph=True)\n") == {"Net.forward": "likely"}


@pytest.mark.parametrize(
    "hung",
    [
        "",
        "held.the_net = None",
        "held.the_net = load()",
        "held.the_net = Net()\nheld.the_net = Block()",
        "held.the_net = Net()\nheld.the_net = load()",
        "class Own:\n    def __init__(self): self.the_net = Net()",
        "held.the_net = Net()\ndef the_net(): ...",
    ],
)
def test_a_name_that_may_mean_several_things_says_nothing_of_an_unknown_object(hung: str) -> None:
    code = f"{HUNG}held = Held()\n{hung}\npatcher = Patcher(held)\n"
    assert hot(code + COMPILES.format("patcher.model.the_net.blocks")) == {}


def test_what_was_given_up_deep_inside_one_question_is_known_to_another() -> None:
    makers = "".join(f"def make{i}(): return make{i + 1}()\n" for i in range(20))
    getters = "".join(f"def get{i}(): return get{i + 1}()\n" for i in range(30))
    code = f"""
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = make0()
{makers}def make20(): return nn.ModuleList([Block()])
{getters}def get30(): return Net().layers[0]
{{first}}
def apply(model):
    for block in model.layers:
        block.compile()
apply(Net())
"""
    assert hot(code.replace("{first}", "")) == {"Block.forward": "likely"}
    assert hot(code.replace("{first}", "compiled = torch.compile(get0())")) == {"Block.forward": "likely"}


def _picked_from(count: int) -> str:
    """A program that compiles what it picks from a table of functions, and that holds a module in the same place."""
    functions = "\n".join(f"def op{n}(x): return x" for n in range(count))
    table = ", ".join(f"'op{n}': op{n}" for n in range(count))
    return f"""
class Net(nn.Module):
    def forward(self, x): return x
{functions}
TABLE = {{{table}}}
class Machine:
    def __init__(self, name):
        self.step = TABLE[name]
        self.step = Net()
    def run(self, x): return torch.compile(self.step)(x)
"""


def test_a_function_picked_from_a_table_runs() -> None:
    assert set(hot(_picked_from(40))) == {"Net.forward", *(f"op{n}" for n in range(40))}


def test_a_place_that_holds_hundreds_of_functions_is_followed_for_its_modules_only() -> None:
    assert set(hot(_picked_from(600))) == {"Net.forward"}


# --- branches that exclude each other -------------------------------------------------------------------

WRAPPED = """
class A(nn.Module):
    def forward(self, x): return x
class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
    def forward(self, x): return self.model(x)
"""


@pytest.mark.parametrize(
    "code",
    [
        "    if how == 'compile':\n        model = torch.compile(model)\n    else:\n        model = Wrapper(model)",
        "    if how == 'wrap':\n        model = Wrapper(model)\n    elif how:\n        model = torch.compile(model)",
        "    if how == 'wrap':\n        model = Wrapper(model)\n    elif how == 'twice':\n"
        "        model = Wrapper(Wrapper(model))\n    else:\n        if how:\n            fast = torch.compile(model)",
    ],
)
@pytest.mark.parametrize("start", ["def setup(how):\n    model = A()", "def setup(how, model):\n    pass"])
def test_what_another_branch_makes_of_a_model_is_not_compiled_by_this_one(start: str, code: str) -> None:
    assert set(hot(f"{WRAPPED}\n{start}\n{code}\n    return model\nsetup('compile', A())")) == {"A.forward"}


@pytest.mark.parametrize(
    "code",
    [
        "    if how:\n        model = Wrapper(model)\n    if how == 'compile':\n        model = torch.compile(model)",
        "    if how:\n        model = Wrapper(model)\n    else:\n        pass\n    model = torch.compile(model)",
        "    for _ in range(2):\n        if how:\n            model = Wrapper(model)\n        else:\n"
        "            model = torch.compile(model)",
    ],
)
def test_what_an_earlier_branch_makes_of_a_model_is_compiled(code: str) -> None:
    found = set(hot(f"{WRAPPED}def setup(how, model):\n{code}\n    return model\nsetup('compile', A())"))
    assert found == {"A.forward", "Wrapper.forward"}


# --- protocols ------------------------------------------------------------------------------------------

COMPILABLE = """
from typing import Protocol
class Compilable(Protocol):
    layers: nn.ModuleDict
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"0": Block()})
"""


def test_a_parameter_that_is_declared_as_a_protocol_is_what_callers_pass() -> None:
    code = COMPILABLE + (
        "def apply(model: Compilable):\n    for name, block in model.layers.items():\n"
        "        model.layers[name] = torch.compile(block)\napply(Model())\n"
    )
    assert hot(code) == {"Block.forward": "likely"}


def test_a_parameter_that_is_declared_as_a_class_is_what_that_says() -> None:
    code = COMPILABLE + (
        "class Head(nn.Module):\n    def forward(self, x): return x\n"
        "class Other(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = nn.ModuleDict({'0': Head()})\n"
        "def apply(model: Other):\n    for name, block in model.layers.items():\n"
        "        model.layers[name] = torch.compile(block)\napply(Model())\n"
    )
    assert set(hot(code)) == {"Head.forward"}


def test_a_protocol_that_nobody_is_passed_for_names_no_code() -> None:
    code = COMPILABLE + "def apply(model: Compilable):\n    model.layers['0'].compile()\n"
    assert hot(code) == {}


# --- a base that nobody makes an instance of -------------------------------------------------------------

ENCODED = """
class Encoder:
    def turn(self, x): return x
class Rotary(Encoder):
    def turn(self, x): return -x
class Unused(Encoder):
    def turn(self, x): return x * 2
class Block(nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
    def forward(self, x): return self.encoder.turn(x)
"""


def test_a_constructor_that_declares_a_base_nobody_makes_is_given_what_callers_pass() -> None:
    found = hot(ENCODED + "Block(Rotary()).compile()")
    assert found["Rotary.turn"] == "likely"
    assert "Unused.turn" not in found


@pytest.mark.parametrize(
    "made", ["Block(Encoder()).compile()", "Block(Rotary()).compile()\nspare = Encoder()"]
)
def test_a_constructor_that_declares_a_class_somebody_makes_is_given_that(made: str) -> None:
    assert set(hot(ENCODED + made)) == {"Block.forward", "Encoder.turn"}


ONCE = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
def wrap(m): return torch.compile(m)
def use(model, late):
{body}
use(Net(), True)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    wrap(model)\n    model = Other()", {"Net.forward"}),
        ("    if late:\n        model = Other()\n    else:\n        wrap(model)", {"Net.forward"}),
        ("    if late:\n        model = Other()\n    wrap(model)", {"Net.forward", "Other.forward"}),
    ],
)
def test_what_a_parameter_is_bound_to_once_after_a_call_or_in_another_branch_is_not_what_it_passes(
    body: str, expected: set[str]
) -> None:
    assert set(hot(ONCE.format(body=body))) == expected
