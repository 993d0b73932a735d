"""Names: what one means that is bound anew, written out by callers, or a method of its own class."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- names that mean another thing than they say --------------------------------------------------------

REPLACED = """
class Other(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def forward(self, x): return x
{lines}
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Net = Other", {"Other.forward"}),
        ("if fast: Net = Other", {"Other.forward", "Net.forward"}),
        ("try:\n    Net = Other\nexcept ImportError: pass", {"Other.forward", "Net.forward"}),
        ("class Below(Net): pass\nNet = Other", {"Other.forward", "Net.forward"}),
        ("first = Net()\nNet = Other", {"Other.forward", "Net.forward"}),
    ],
)
def test_a_class_whose_name_means_another_at_the_end_of_its_file_is_never_made(
    lines: str, expected: set[str]
) -> None:
    train = "from nets import Net\nnet = torch.compile(Net())"
    files = {"nets.py": REPLACED.format(lines=lines), "train.py": train}
    assert {name.partition("::")[2] for name in hot(files)} == expected


# --- names bound to what they gave themselves -----------------------------------------------------------

NAMED_AGAIN = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Loader:
    def load(self): return Net
    def other(self): return Other
def main():
    made = Loader()
    {step}
    made.compile()
"""


@pytest.mark.parametrize(
    "step",
    [
        "made = made.load()\n    made = made()",
        "made = (made.load())()",
        "made = [made]; made = made[0].load()()",
    ],
)
def test_a_name_may_be_bound_to_what_it_gave_itself(step: str) -> None:
    assert hot(NAMED_AGAIN.format(step=step)) == {"Net.forward": "certain"}


@pytest.mark.parametrize(
    "step", ["pass", "made = made", "made = made.load()", "made = made.missing()()", "made = made()"]
)
def test_a_name_that_gives_nothing_is_bound_to_nothing_more(step: str) -> None:
    assert hot(NAMED_AGAIN.format(step=step)) == {}
