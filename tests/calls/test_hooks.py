"""Hooks: which forward and backward hooks of a compiled module are traced."""

from __future__ import annotations

from tests.programs import hot

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
