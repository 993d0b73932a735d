"""One program per row of the cost table of DYN202; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Experts(nn.Module):
    """Three experts, found by name in one way or another."""

    def __init__(self):
        super().__init__()
        self.kind = "expert_1"
        self.expert_0 = nn.Linear(8, 8)
        self.expert_1 = nn.Linear(8, 8)
        self.expert_2 = nn.Linear(8, 8)


class FormattedArgument(Experts):
    """The number arrives as an argument and is formatted."""

    def forward(self, x, k: int):
        return getattr(self, f"expert_{k}")(x)  # expect: DYN202 eager


def probe_formatted_argument():
    """f-string of an int argument: `getattr(self, f"expert_{k}")`"""
    return torch.compile(FormattedArgument()), [(X, 0), (X, 1), (X, 2)]


class HelperMethod(Experts):
    """The lookup is not in the compiled function but in a method it calls."""

    def forward(self, x, k: int):
        return self.expert(k)(x)

    def expert(self, k):
        return getattr(self, f"expert_{k}")  # expect: DYN202 break


def probe_helper_method():
    """the same f-string in a helper that `forward` calls"""
    return torch.compile(HelperMethod()), [(X, 0), (X, 1), (X, 2)]


class JoinedArgument(Experts):
    """The number arrives as an argument and goes through `str`."""

    def forward(self, x, k: int):
        return getattr(self, "expert_" + str(k))(x)  # expect: DYN202 break


def probe_joined_argument():
    """`str` of an int argument: `getattr(self, "expert_" + str(k))`"""
    return torch.compile(JoinedArgument()), [(X, 0), (X, 1), (X, 2)]


class PercentArgument(Experts):
    """The number arrives as an argument and is formatted the old way."""

    def forward(self, x, k: int):
        return getattr(self, "expert_%d" % k)(x)  # noqa: UP031  # expect: DYN202 eager


def probe_percent_argument():
    """percent of an int argument: `getattr(self, "expert_%d" % k)`"""
    return torch.compile(PercentArgument()), [(X, 0), (X, 1), (X, 2)]


class FormatMethod(Experts):
    """The number arrives as an argument and goes through `str.format`."""

    def forward(self, x, k: int):
        return getattr(self, "expert_{}".format(k))(x)  # noqa: UP032  # expect: DYN202 break


def probe_format_method():
    """`str.format` of an int argument: `getattr(self, "expert_{}".format(k))`"""
    return torch.compile(FormatMethod()), [(X, 0), (X, 1), (X, 2)]


class SetByArgument(Experts):
    """Stores under a formatted name."""

    def forward(self, x, k: int):
        setattr(self, f"last_{k}", x.detach())  # expect: DYN202 eager
        return x * 2


def probe_setattr():
    """`setattr(self, f"last_{k}", x)` with an int argument"""
    return torch.compile(SetByArgument()), [(X, 0), (X, 1), (X, 2)]


class HasByArgument(Experts):
    """Asks for a formatted name."""

    def forward(self, x, k: int):
        return x * 2 if hasattr(self, f"expert_{k}") else x * 3  # expect: DYN202 eager


def probe_hasattr():
    """`hasattr(self, f"expert_{k}")` with an int argument"""
    return torch.compile(HasByArgument()), [(X, 0), (X, 1), (X, 2)]


class FromTensor(Experts):
    """The number is computed by the model."""

    def forward(self, x, k):
        best = k.argmax().item()  # expect: DYN402 break
        return getattr(self, f"expert_{best}")(x)  # expect: DYN202 break


def probe_from_tensor():
    """a name out of a tensor: `getattr(self, f"expert_{k.argmax().item()}")`"""
    return torch.compile(FromTensor()), [(X, row) for row in torch.eye(3)]


class NameArgument(Experts):
    """The name itself is an argument."""

    def forward(self, x, name: str):
        return getattr(self, name)(x)  # expect: DYN202 per-value


def probe_name_argument():
    """a str argument, three names: `getattr(self, name)`"""
    return torch.compile(NameArgument()), [(X, "expert_0"), (X, "expert_1"), (X, "expert_2")]


class LoopIndex(Experts):
    """The number is a loop index: Dynamo unrolls the loop and folds the name."""

    def forward(self, x):
        for k in range(3):
            x = x + getattr(self, f"expert_{k}")(x)
        return x


def probe_loop_index():
    """f-string of a loop index, `for k in range(3)`"""
    return torch.compile(LoopIndex()), [(X,)]


class OwnKind(Experts):
    """The name is an attribute that never changes."""

    def forward(self, x):
        return getattr(self, self.kind)(x)


def probe_own_kind():
    """an attribute that never changes: `getattr(self, self.kind)`"""
    return torch.compile(OwnKind()), [(X,)]
