"""Modules of libraries that run what is put into them."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text
from tests.small_model import SMALL_MODEL, SMALL_WHOLE, names_with_model

# --- modules that run what their constructor is handed --------------------------------------------------

PARTS = """
from deepspeed.pipe import LayerSpec, PipelineModule, TiedLayerSpec
from elsewhere import Description, layers as theirs
class First(nn.Module):
    def forward(self, x): return x
class Second(nn.Module):
    def forward(self, x): return x
class Judge(nn.Module):
    def forward(self, x): return x
def turn(x): return x
def judge(x): return x
def made():
    layers = [First()]
    for _ in range(2): layers.append(Second())
    layers.append(turn)
    return layers
class Passing(PipelineModule):
    def __init__(self, *given, split=None, **named):
        self.split = split
        super().__init__(*given, **named)
class Plain(PipelineModule): pass
class Named(PipelineModule):
    def __init__(self, layers, judged=None):
        PipelineModule.__init__(self, layers=layers, loss_fn=judged)
class Own(PipelineModule):
    def __init__(self, layers): super().__init__(layers=layers)
    def forward(self, x): return x
class Compiling(PipelineModule):
    def __init__(self, layers): super().__init__(layers=layers)
    def compile(self): pass
class Mixin:
    def __init__(self, layers): self.count = len(layers)
class Counting(PipelineModule):
    def __init__(self, layers):
        Mixin.__init__(self, layers)
        super().__init__(layers=[turn])
class Lists(nn.ModuleList):
    def __init__(self): super().__init__([First()])
class Stack(nn.Sequential):
    def __init__(self, *layers): super().__init__(*layers)
class Grown(nn.Sequential):
    def __init__(self):
        super().__init__()
        self.append(First())
        self.add_module("second", Second())
class Encoder(nn.TransformerEncoder):
    def __init__(self): super().__init__(First(), 2)
class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.stack = Stack(First())
    def forward(self, x): return self.stack(x)
"""
FIRST, SECOND = {"First.forward"}, {"Second.forward"}
LAYERS = FIRST | SECOND | {"turn"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("Passing(layers=made(), loss_fn=judge, num_stages=2).compile(dynamic=True)", LAYERS),
        ("Passing(made(), loss_fn=Judge()).compile()", LAYERS),
        ("Passing(**dict(layers=[Second()], loss_fn=Judge())).compile()", SECOND),
        ("Plain(layers=made(), loss_fn=judge).compile()", LAYERS),
        ("Plain((First(), turn)).compile()", FIRST | {"turn"}),
        ("Named(made(), judge).compile()", LAYERS),
        ("Counting(made()).compile()", {"turn"}),
        ("fast = torch.compile(Plain(layers=made()))", LAYERS),
        ("PipelineModule(layers=made(), loss_fn=judge).compile()", LAYERS),
        ("Stack(First(), Second()).compile()", FIRST | SECOND),
        ("fast = torch.compile(Grown())", FIRST | SECOND),
        ("fast = torch.compile(Encoder())", FIRST),
        ("fast = torch.compile(Around())", FIRST | {"Around.forward"}),
        ("nn.Sequential(First(), Second()).compile()", FIRST | SECOND),
        ("nn.Sequential(*[First() for _ in range(2)]).compile()", FIRST),
    ],
)
def test_the_forward_of_a_library_runs_what_its_constructor_was_handed(code: str, expected: set[str]) -> None:
    assert set(hot(PARTS + code)) == expected


@pytest.mark.parametrize(
    "code",
    [
        "Plain(layers=made())",
        "Plain(loss_fn=judge, criterion=Judge(), metrics=[Judge()]).compile()",
        "Plain(turn).compile()",
        "Plain(layers={'turn': turn}).compile()",
        "Plain(layers=theirs()).compile()",
        "Plain(layers=[First, Second]).compile()",
        "Compiling(made()).compile()",
        "Lists().compile()",
        "PipelineModule(layers=theirs(), loss_fn=judge).compile()",
        "[First(), turn].append(Second())",
        "turn.compile()",
    ],
)
def test_what_no_forward_of_a_library_runs_is_quiet(code: str) -> None:
    assert hot(PARTS + code) == {}


def test_a_forward_of_ones_own_says_what_runs() -> None:
    assert set(hot(PARTS + "Own(made()).compile()")) == {"Own.forward"}


def test_which_of_its_modules_a_library_runs_is_likely_at_best() -> None:
    assert set(hot(PARTS + "Plain(made()).compile()").values()) == {"likely"}


def test_a_library_compiles_its_layers_in_place_as_one_module() -> None:
    _, regions = resolve_text(PARTS + "Plain(made()).compile()")
    assert [(entry.target, entry.idiom) for entry in regions.entries] == [("m.py::Plain", "method")]


SPECS = """
class Block(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm()
    def forward(self, x): return self.norm(x)
def head(module, x): return x
class Pipe(PipelineModule):
    def __init__(self, width):
        self.specs = []
        {specs}
        super().__init__(layers=self.specs)
Pipe(8).compile()
"""


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        ("self.specs.append(LayerSpec(First, width))", FIRST),
        ("self.specs.append(LayerSpec(Block, Second))", SECOND | {"Block.forward"}),
        ("self.specs.append(TiedLayerSpec('embed', First, width))", FIRST),
        ("self.specs.append(TiedLayerSpec('embed', First, forward_fn=head))", FIRST | {"head"}),
        ("self.specs.append(turn)", {"turn"}),
        ("self.specs.append(LayerSpec(theirs, First))", set()),
        ("self.specs.append(LayerSpec())", set()),
        ("self.specs.append(TiedLayerSpec('embed'))", set()),
        ("self.specs.append(Description(First))", set()),
        ("self.other = LayerSpec(First)", set()),
    ],
)
def test_the_description_of_a_layer_names_the_class_that_a_pipeline_makes(
    specs: str, expected: set[str]
) -> None:
    assert set(hot(PARTS + SPECS.format(specs=specs))) == expected


CHAINS = """
from torch_geometric.nn import MessagePassing, Sequential
from tensordict.nn import TensorDictModule, TensorDictSequential
from elsewhere import Chain
class Conv(MessagePassing):
    def forward(self, x, edges): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = {made}
    def forward(self, x): return self.body(x)
fast = torch.compile(Net())
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("Sequential('x, e', [(Conv(), 'x, e -> x'), First()])", FIRST | {"Conv.forward"}),
        ("Sequential('x, e', [(turn, 'x -> x'), nn.Linear(2, 2)])", {"turn"}),
        ("Sequential('x, e', [(First, 'x -> x')])", set()),
        ("Sequential(loss=judge)", set()),
        ("TensorDictSequential(TensorDictModule(First(), ['a'], ['b']), Second())", FIRST | SECOND),
        ("TensorDictSequential(turn, Second())", SECOND),
        ("Chain(First(), Second())", set()),
    ],
)
def test_a_chain_of_a_library_runs_all_that_it_is_made_of(made: str, expected: set[str]) -> None:
    assert set(hot(PARTS + CHAINS.format(made=made))) == {"Net.forward", *expected}


MODELS = """
from functools import partial
from timm.models import VisionTransformer
from torchvision.models import ResNet
from elsewhere import Config, Trainer
class Settings: pass
class Heir(ResNet):
    def __init__(self): super().__init__(First, [2, 2], norm_layer=partial(Second, eps=1), settings=Settings)
class Given(VisionTransformer):
    def __init__(self, **given): super().__init__(block_fn=First, **given)
class Judged(ResNet):
    def __init__(self): super().__init__(loss_cls=Judge)
class Own(ResNet):
    def __init__(self): super().__init__(First, [2, 2])
    def forward(self, x): return x
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("Heir()", FIRST | SECOND),
        ("Given()", FIRST),
        ("Given(norm_layer=Second)", FIRST | SECOND),
        ("ResNet(First, [2, 2])", FIRST),
        ("ResNet(First, [2, 2], norm_layer=partial(Second, eps=1))", FIRST | SECOND),
        ("Judged()", set()),
        ("Own()", {"Own.forward"}),
        ("ResNet(Settings, [2, 2])", set()),
        ("ResNet([First, Second])", set()),
        ("Trainer(First)", set()),
        ("Config(block=First)", set()),
    ],
)
def test_a_model_of_a_library_makes_modules_of_the_classes_it_is_handed(
    made: str, expected: set[str]
) -> None:
    assert set(hot(f"{PARTS}{MODELS}fast = torch.compile({made})")) == expected


# --- what is put into a module of a library -------------------------------------------------------------

START = """
import types
from transformers import AutoModel
from diffusers import FluxPipeline, FluxTransformer
class Head(nn.Module):
    def forward(self, x): return x
class Linear8(nn.Linear):
    def forward(self, x): return x
class Processor:
    def __call__(self, attn, x): return x
def mine(self, x): return x
def hook(module, given): return given
model = AutoModel.from_pretrained("x")
"""
COMPILE = "\nfast = torch.compile(model)\n"
HEAD, LINEAR, MINE, PROCESSOR = {"Head.forward"}, {"Linear8.forward"}, {"mine"}, {"Processor.__call__"}
SWAP = """
def swap(root, keep):
    for name, child in root.named_modules():
        if isinstance(child, nn.Linear):
            parent = root.get_submodule(name)
            setattr(parent, name, Linear8(1, 1))
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model.lm_head = Head()", HEAD),
        ("model.encoder.layers[0].fc = Head()", HEAD),
        ("model.layers[3] = Head()", HEAD),
        ("model.add_module('head', Head())", HEAD),
        ("model.forward = types.MethodType(mine, model)", MINE),
        ("for layer in model.layers: layer.forward = types.MethodType(mine, layer)", MINE),
        ("for i, layer in enumerate(model.layers): layer.attn.processor = Processor()", PROCESSOR),
        ("model.set_attn_processor(Processor())", PROCESSOR),
        ("model.set_attn_processor({'a': Processor()})", PROCESSOR),
        ("model.layers[0].register_forward_pre_hook(hook)", {"hook"}),
    ],
)
def test_what_is_put_into_a_library_s_module_is_compiled_with_it(code: str, expected: set[str]) -> None:
    assert hot(START + code + COMPILE) == dict.fromkeys(expected, "likely")


@pytest.mark.parametrize(
    "code",
    [
        SWAP + "swap(model, None)",
        SWAP + "def prepare(m):\n    m.train()\n    swap(m, keep=1)\nprepare(model)",
    ],
)
def test_what_a_converter_puts_wherever_it_finds_a_place_is_only_possible(code: str) -> None:
    assert hot(START + code + COMPILE) == dict.fromkeys(LINEAR, "possible")


@pytest.mark.parametrize(
    "code",
    [
        "def build():\n    m = AutoModel.from_pretrained('x')\n    m.fc = Head()\n    return m\n"
        "model = build()\nmodel = torch.compile(model)",
        "def compiled(m): return torch.compile(m)\nmodel.fc = Head()\ncompiled(model)",
        "class T:\n    def __init__(self):\n        self.m = AutoModel.from_pretrained('x')\n        self.m.fc = Head()\n"
        "    def run(self): self.m = torch.compile(self.m)",
        "class T:\n    def __init__(self, m):\n        m.fc = Head()\n        self.m = m\n"
        "    def run(self): self.m = torch.compile(self.m)",
        "pipe = FluxPipeline.from_pretrained('x').to('cuda')\npipe.transformer.fc = Head()\n"
        "pipe.transformer = torch.compile(pipe.transformer)",
        "t = FluxTransformer()\nt.fc = Head()\npipe = FluxPipeline.from_pretrained('x', transformer=t).to('cuda')\n"
        "pipe.transformer = torch.compile(pipe.transformer)",
        "model.fc = Head()\nmodel.forward = torch.compile(model.forward)",
        "model.fc = Head()\nmodel.compile()",
    ],
)
def test_the_module_is_followed_under_its_other_names(code: str) -> None:
    assert hot(START + code) == {"Head.forward": "likely"}


def test_a_class_of_a_library_may_get_another_forward() -> None:
    assert hot(START + "FluxTransformer.forward = mine\nm = torch.compile(FluxTransformer())") == {
        "mine": "likely"
    }
    assert hot(START + "FluxPipeline.forward = mine\nm = torch.compile(FluxTransformer())") == {}


@pytest.mark.parametrize(
    "code",
    [
        "other = AutoModel.from_pretrained('y')\nother.fc = Head()" + COMPILE,
        "model.fc = Head",
        "head = Head()\nhead.model = model" + COMPILE,
        "model.fc = Head()\nprint(model)",
        "model.fc = Head()\ntorch.compile(model)",  # nobody keeps it
        "model.fc = Head()\nre.compile(model)",
        "model.config.fn = mine" + COMPILE,
        "model.register_full_backward_hook(hook)" + COMPILE,
        "model.set_processors(Processor())" + COMPILE,
        SWAP + COMPILE,
        SWAP + "other = AutoModel.from_pretrained('y')\nswap(other, model)" + COMPILE,
        "def load(m): m.eval()\nload(model)\ndef elsewhere(m):\n    m.fc = Head()\n    load(m)" + COMPILE,
    ],
)
def test_what_is_put_elsewhere_is_not(code: str) -> None:
    assert hot(START + code) == {}


# --- wrappers, frameworks, helpers ----------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", ["Model()", "Model().forward"])
def test_a_module_of_a_library_runs_what_it_wraps(wrapped: str) -> None:
    code = f"from tensordict.nn import TensorDictModule\nrun = torch.compile(TensorDictModule({wrapped}))"
    assert names_with_model(code) == SMALL_WHOLE


@pytest.mark.parametrize("made", ["Optimizer(Model())", "Table([Model()])", "summary(Model())"])
def test_other_things_that_are_made_of_a_model_are_not_the_model(made: str) -> None:
    assert (
        names_with_model(f"from library import Optimizer, Table, summary\nrun = torch.compile({made})")
        == set()
    )


PROCESSOR_OF_OBJECTS = """
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
    found = hot(SMALL_MODEL + PROCESSOR_OF_OBJECTS.format(made=made, called="self.attention(x)"))
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
    assert set(hot(SMALL_MODEL + PROCESSOR_OF_OBJECTS.format(made=made, called=called))) == {"Net.forward"}
