"""Regions: what configurations say in single words, where code looks something up by them."""

from __future__ import annotations

import pytest

from dynamo_lint.index.config_files import summarize_config
from tests.programs import hot

NETS = """
class Small(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def forward(self, x): return x
class Unsaid(nn.Module):
    def forward(self, x): return x
def smooth(x): return x
def sharp(x): return x
"""
SAID = "model:\n  name: Small\nloss: {kind: smooth, scale: 2}\n"


def found(code: str, said: str = SAID, kind: str = "yaml") -> set[str]:
    """What is likely or certain of the networks."""
    files = {"nets.py": NETS, "main.py": "import nets\n" + code, f"conf/base.{kind}": said}
    return {
        name.partition("::")[2]
        for name, tier in hot(files).items()
        if "nets.py" in name and tier != "assumed"
    }


@pytest.mark.parametrize(
    "code",
    [
        "def main(cfg): getattr(nets, cfg.model.name)().compile()",
        "def main(cfg): getattr(nets, str(cfg['name']))().compile()",
        "def build(name): return getattr(nets, name)()\ndef main(cfg): build(cfg.model.name).compile()",
        "class Task:\n    def __init__(self, cfg): self.name = cfg.model.name\n"
        "    def run(self): getattr(nets, self.name)().compile()",
    ],
)
def test_what_is_looked_up_in_a_module_is_what_configurations_say_under_the_key(code: str) -> None:
    assert found(code) == {"Small.forward"}


def test_a_function_is_looked_up_as_well() -> None:
    code = "def main(cfg):\n    loss = getattr(nets, cfg.loss.kind)\n    @torch.compile\n    def step(x): return loss(x)"
    assert found(code) == {"smooth"}


def test_json_says_as_much_as_yaml() -> None:
    said = '{"model": {"name": "Large", "depth": 2}}'
    assert found("def main(cfg): getattr(nets, cfg.model.name)().compile()", said, "json") == {
        "Large.forward"
    }


def test_words_under_other_keys_are_not_meant() -> None:
    code = "def main(cfg): getattr(nets, cfg.model.name)().compile()"
    assert "Small.forward" not in found(code, "name: Large\nother: Small\n")


PARTS = {
    "lib/__init__.py": "",
    "lib/base.py": "class Base(nn.Module):\n    def forward(self, x): return self.step(x)\n",
    "lib/nets/__init__.py": "",
    "lib/nets/one.py": "from ..base import Base\nclass One(Base):\n    def step(self, x): return x\n",
    "lib/nets/two.py": "from ..base import Base\nclass Two(Base):\n    def step(self, x): return x\n",
    "lib/nets/three.py": "from ..base import Base\nclass Three(Base):\n    def step(self, x): return x\n",
    "lib/tools.py": """
        import inspect
        def get_class(path, base):
            module = __import__(path, fromlist=[""])
            classes = inspect.getmembers(module, inspect.isclass)
            return [one for one in classes if issubclass(one[1], base)][0][1]
        """,
}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("model: {name: one}", {"One.step"}),
        ("model: {name: one}\nother: {name: two}", {"One.step", "Two.step"}),
        ("model: {name: lib.nets.two}", {"Two.step"}),
        ("two:\n  width: 3\nmodel: {name: one}", {"One.step", "Two.step"}),
    ],
)
def test_a_module_that_is_imported_by_name_is_one_that_configurations_say(
    said: str, expected: set[str]
) -> None:
    factory = """
        from .tools import get_class
        from .base import Base
        def get_model(name):
            for path in [name, f"{__name__}.nets.{name}"]:
                return get_class(path, Base)
        def main(cfg): get_model(cfg.model.name)().compile()
        """
    files = {**PARTS, "lib/__init__.py": factory, "conf/base.yaml": said}
    steps = {name.partition("::")[2] for name in hot(files)} - {"Base.forward"}
    assert steps == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: resnet", (("name", "resnet"),)),
        ("net: 1\nlist:\n  - {name: resnet, size: 3}", (("name", "resnet"), ("", "list"))),
        ('{"name": "nets.resnet"}', (("name", "nets.resnet"),)),
        ("name: 'resnet'  # the usual", (("name", "resnet"),)),
        ("name: a b\nsize: 3\non: true\nother: ~", ()),
        ("resnet:\n  depth: 3\nvit: &vit\n  depth: 4", (("", "resnet"), ("", "vit"))),
        ("name: resnet\nname: resnet", (("name", "resnet"),)),
    ],
)
def test_words_are_read_without_a_parser(text: str, expected: tuple[tuple[str, str], ...]) -> None:
    assert summarize_config("a.yaml", text.encode()).words == expected


def test_of_a_file_full_of_words_the_first_are_read() -> None:
    text = "\n".join(f"key{number}: word" for number in range(2000))
    assert len(summarize_config("a.yaml", text.encode()).words) == 1000
