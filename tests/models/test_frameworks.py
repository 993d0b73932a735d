"""Frameworks that compile for their users: accelerate, trainers, Composer, diffusers, vLLM, Megatron, DeepSpeed."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text
from tests.small_model import SMALL_BLOCK, SMALL_WHOLE, names_with_model

# --- accelerators ---------------------------------------------------------------------------------------

NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
MAKE = """
from accelerate import Accelerator
def make(args):
    backend = "NO"
    if args.compile:
        backend = args.backend
    accelerator = Accelerator(log_with=args.log, dynamo_backend=backend)
    return accelerator
"""
USES = {
    "local": "from tools.make import make\ndef main(args):\n    acc = make(args)\n    net = acc.prepare(Net())\n",
    "module": "from tools import make\nacc = make.make(None)\nnet, other = acc.prepare(Net(), None)\n",
    "annotated": "from accelerate import Accelerator\n"
    "def run(acc: Accelerator): net = acc.prepare_model(Net())\n",
    "attribute": "from tools.make import make\nclass Task:\n    def __init__(self, args): self.acc = make(args)\n"
    "    def run(self): self.net = self.acc.prepare(Net())\n",
    "given": "from tools.make import make\ndef run(acc): net = acc.prepare(Net())\n"
    "def main(args): run(make(args))\n",
}


def found(use: str, make: str = MAKE, at: str = "tools/make.py") -> dict[str, str]:
    return hot({"tools/__init__.py": "", "tests/__init__.py": "", at: make, "main.py": NET + use})


@pytest.mark.parametrize("use", USES)
def test_an_accelerator_of_another_file_compiles_what_it_prepares(use: str) -> None:
    assert found(USES[use]) == {"main.py::Net.forward": "likely"}


@pytest.mark.parametrize("use", USES)
def test_one_that_nobody_tells_to_compile_compiles_nothing(use: str) -> None:
    assert found(USES[use], MAKE.replace("dynamo_backend=backend", "cpu=True")) == {}
    assert found(USES[use], MAKE.replace("dynamo_backend=backend", "dynamo_backend='no'")) == {}


@pytest.mark.parametrize(
    "use",
    [
        "def run(acc): net = acc.prepare(Net())\n",  # nothing says what that is
        "from fabric import Fabric\ndef run(acc: Fabric): net = acc.prepare(Net())\n",
        "from accelerate import Accelerator\ndef run(acc: Accelerator): net = acc.gather(Net())\n",
        "from accelerate import Accelerator\nacc = Accelerator()\nnet = acc.prepare(Net())\n",
        "from tools.make import make\nclass Own:\n    def prepare(self, net): return net\n"
        "net = Own().prepare(Net())\n",
    ],
)
def test_other_objects_and_accelerators_of_the_file_itself_are_not_that_one(use: str) -> None:
    assert found(use) == {}


def test_an_optimizer_that_it_prepares_is_no_unresolved_site() -> None:
    use = "from tools.make import make\ndef main(args, optimizer): return make(args).prepare(optimizer)\n"
    _, regions = resolve_text({"tools/__init__.py": "", "tools/make.py": MAKE, "main.py": NET + use})
    assert not regions.unresolved


# --- pipelines ------------------------------------------------------------------------------------------

PIPELINE = """
from diffusers import DiffusionPipeline
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return x
class Vae(nn.Module):
    def forward(self, x): return x
class Pipeline(DiffusionPipeline):
    def __init__(self, vae, transformer, second=None):
        super().__init__()
        self.register_modules(vae=vae, transformer=transformer, transformer_2=second)
    def __call__(self, x): return self.vae(self.transformer(x))
pipe = Pipeline(vae=Vae(), transformer=Net())
"""
NET_OF_PIPELINES, BLOCK, VAE = {"Net.forward", "Block.forward"}, {"Block.forward"}, {"Vae.forward"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pipe.transformer = torch.compile(pipe.transformer)", NET_OF_PIPELINES),
        ("pipe.transformer.compile()", NET_OF_PIPELINES),
        ("pipe.vae = torch.compile(pipe.vae)", VAE),
        ("pipe.vae.forward = torch.compile(pipe.vae.forward)", VAE),
        ("for i in range(2): pipe.transformer.blocks[i] = torch.compile(pipe.transformer.blocks[i])", BLOCK),
        ("other = Pipeline(None, None, Net())\nother.transformer_2.compile()", NET_OF_PIPELINES),
        ("fast = torch.compile(pipe)", NET_OF_PIPELINES | VAE | {"Pipeline.__call__"}),
        ("def run(pipe: Pipeline): pipe.transformer.compile()", NET_OF_PIPELINES),
    ],
)
def test_what_a_pipeline_registers_is_its_attribute(code: str, expected: set[str]) -> None:
    assert set(hot(PIPELINE + code)) == expected


@pytest.mark.parametrize(
    "code",
    [
        "pipe.text_encoder.compile()",
        "pipe.second.compile()",
        "pipe.transformer",
        "other = Pipeline(None, None)\nother.transformer_2.compile()",
        "pipe.register_modules(vae)\npipe.text_encoder.compile()",
        "pipe.register_modules(**parts)\npipe.text_encoder.compile()",
        "pipe.register_module(tokenizer=Vae())\npipe.tokenizer.compile()",
    ],
)
def test_what_it_does_not_register_is_not(code: str) -> None:
    assert hot(PIPELINE + code) == {}


# --- Composer -------------------------------------------------------------------------------------------

DIFFUSERS = """
from diffusers import FluxPipeline, FluxTransformer2DModel
class Processor:
    def __call__(self, attn, x): return x
class Other:
    def __call__(self, attn, x): return x
class Wrapper(FluxTransformer2DModel):
    def __init__(self):
        super().__init__()
        self.processor = Other()
        for block in self.transformer_blocks:
            block.attn.processor = Processor()
    def forward(self, x):
        for block in self.transformer_blocks: x = block(x)
        return x
def main(path):
    pipe = FluxPipeline.{made}(path, transformer=Wrapper.from_pretrained(path), width=2)
    pipe.transformer = torch.compile(pipe.transformer)
"""


@pytest.mark.parametrize("made", ["from_pretrained", "from_single_file"])
def test_a_pipeline_keeps_what_it_is_made_of_and_runs_the_processors_it_is_given(made: str) -> None:
    expected = {"Wrapper.forward", "Processor.__call__"} if made == "from_pretrained" else set()
    assert set(hot(DIFFUSERS.format(made=made))) == expected


def test_a_class_that_gives_its_parts_itself_to_run_ends() -> None:
    own = DIFFUSERS.format(made="from_pretrained").replace("= Processor()", "= Wrapper()")
    assert set(hot(own)) == {"Wrapper.forward"}


TRAINER = """
from hydra.utils import instantiate
class Net(nn.Module):
    def forward(self, x): return x
def main(cfg):
    trainer = instantiate(cfg.trainer, model=Net(), {given})
"""


@pytest.mark.parametrize("given", ["compile_config={}", "compile_config={} if cfg.fast else None"])
def test_a_trainer_of_composer_that_a_configuration_describes_compiles_its_model(given: str) -> None:
    assert hot(TRAINER.replace("{given}", given)) == {"Net.forward": "likely"}


@pytest.mark.parametrize("given", ["compile_config=None", "compile=True", ""])
def test_what_else_a_configuration_describes_compiles_nothing(given: str) -> None:
    assert hot(TRAINER.replace("{given}", given)) == {}


# --- trainers, diffusers, accelerate and vLLM -----------------------------------------------------------

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


# --- accelerate -----------------------------------------------------------------------------------------


def test_accelerate_compiles_what_it_prepares_if_it_is_told_a_backend() -> None:
    code = (
        "from accelerate import Accelerator\nacc = Accelerator({arguments})\nmodel = acc.prepare(Model())\n"
    )
    assert names_with_model(code.format(arguments="dynamo_backend='inductor'")) == SMALL_WHOLE
    assert names_with_model(code.format(arguments="")) == set()
    assert names_with_model(code.format(arguments="dynamo_backend='no'")) == set()
    plugin = "dynamo_plugin=TorchDynamoPlugin(backend='inductor', use_regional_compilation=True)"
    assert (
        names_with_model("from accelerate.utils import TorchDynamoPlugin\n" + code.format(arguments=plugin))
        == SMALL_BLOCK
    )


def test_megatrons_fuser_compiles_what_it_decorates_and_its_builder_builds_what_a_spec_names() -> None:
    code = """
from megatron.core.jit import jit_fuser
from megatron.core.transformer.spec_utils import ModuleSpec, build_module
@jit_fuser
def fused(x): return cold(x)
block = build_module(ModuleSpec(module=Block))
"""
    assert names_with_model(code) == {"fused", "cold"}
    assert names_with_model(code + "block.compile()\n") == {"fused", "cold"} | SMALL_BLOCK
    assert (
        names_with_model(code.replace("megatron.core.jit import jit_fuser", "other import jit_fuser"))
        == set()
    )


# --- trainers and engines -------------------------------------------------------------------------------


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
    assert names_with_model(code.format("lit = torch.compile(Lit())")) == SMALL_WHOLE | {"Lit.training_step"}
    # Where it trains on several devices, the step runs within the forward that is compiled in place.
    assert names_with_model(code.format("lit = Lit()\n    lit.compile()")) == SMALL_WHOLE | {
        "Lit.training_step"
    }
    assert names_with_model(code.format("lit = Lit()")) == set()
    assert names_with_model(code.format("lit = Lit()\n    lit.model.compile()")) == SMALL_WHOLE
    outer = "class Outer(L.LightningModule):\n        def __init__(self):\n            super().__init__()\n            self.lit = Lit()\n            "
    assert (
        names_with_model(code.format(outer + "self.lit = torch.compile(self.lit)")) == set()
    )  # a part of another
    assert (
        names_with_model(
            code.replace("L.LightningModule", "nn.Module").format("lit = Lit()\n    lit.compile()")
        )
        == set()
    )
