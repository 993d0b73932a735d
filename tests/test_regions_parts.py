"""Regions: methods that are found by a part of their name, or that the code of a library calls."""

from __future__ import annotations

import pytest

from tests.programs import hot

MODEL = """
class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.down_block = nn.Linear(1, 1)
    def run_a(self, x): return x
    def run_b(self, x): return x
    def other(self, x): return x
    def forward(self, x): return {call}
model = torch.compile(Model("a"))
"""
RUNS = {"Model.run_a", "Model.run_b"}


@pytest.mark.parametrize(
    "call",
    [
        "getattr(self, f'run_{self.kind}')(x)",
        "getattr(self, 'run_' + self.kind)(x)",
        "getattr(self, 'run_%s' % self.kind)(x)",
        "getattr(self, 'run_{}'.format(self.kind))(x)",
    ],
)
def test_a_method_may_be_any_whose_name_begins_as_the_text_does(call: str) -> None:
    assert set(hot(MODEL.format(call=call))) == {"Model.forward"} | RUNS


@pytest.mark.parametrize(
    "call",
    [
        "getattr(self, f'{self.kind}')(x)",
        "getattr(self, f'walk_{self.kind}')(x)",
        "getattr(x, f'run_{self.kind}')(x)",
        "print(f'run_{self.kind}')",
        "f'run_{self.kind}'(x)",
    ],
)
def test_other_texts_and_other_objects_run_none_of_them(call: str) -> None:
    assert not RUNS & set(hot(MODEL.format(call=call)))


def test_submodules_are_found_by_a_part_of_their_name() -> None:
    blocks = "".join(f"class B{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(3))
    model = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up1, self.up2, self.down1 = B0(), B1(), B2()
    def forward(self, x): return getattr(self, f"{}")(x)
torch.compile(Net())(1)
"""
    assert set(hot(blocks + model.replace("{}", "up{n}"))) == {"Net.forward", "B0.forward", "B1.forward"}
    assert set(hot(blocks + model.replace("{}", "side{n}"))) == {"Net.forward"}


@pytest.mark.parametrize("base", ["torchvision.models.ResNet", "timm.models.VisionTransformer"])
def test_the_forward_of_a_library_calls_the_parts_that_an_heir_overrides(base: str) -> None:
    code = f"import timm, torchvision\nclass Mine({base}):\n"
    code += "    def forward_features(self, x): return x\n    def _forward_impl(self, x): return x\n"
    code += "    def prepare(self, x): return x\nmodel = torch.compile(Mine())"
    assert hot(code) == {"Mine.forward_features": "likely", "Mine._forward_impl": "likely"}
    own = code.replace("    def prepare", "    def forward(self, x): return x\n    def prepare")
    assert set(hot(own)) == {"Mine.forward"}
    assert hot(code.replace(base, "other.Thing")) == {}


def test_a_compile_of_ones_own_may_call_that_of_torch() -> None:
    code = """
class Model(nn.Module):
    def __init__(self): super().__init__()
    def forward(self, x): return x
    def compile(self, **options): {call}
model = Model()
model.compile()
"""
    assert hot(code.format(call="super().compile(**options)")) == {"Model.forward": "certain"}
    assert hot(code.format(call="super().eval()")) == {}
    plain = code.replace("nn.Module", "Base").replace("    def forward", "    def step")
    assert hot("class Base: pass\n" + plain.format(call="super().compile()")) == {}
