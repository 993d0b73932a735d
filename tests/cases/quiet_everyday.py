"""Everyday module code that compiles once: every class here must stay quiet."""

import os

import torch
from torch import nn

FAST = os.environ.get("EVERYDAY_FAST", "1") == "1"


class ReadsItsConfiguration(nn.Module):
    def __init__(self, depth: int = 3, scale: float = 0.5):
        super().__init__()
        self.depth, self.scale = depth, scale

    def forward(self, x):
        for _ in range(self.depth):
            x = x * self.scale
        return x


class WrittenThenReadByAMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.height = 0

    def forward(self, x):
        self.height = x.shape[0]
        return self._reshape(x)

    def _reshape(self, x):
        return x.view(self.height, -1)


class WrittenThenReadByASubmodule(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = WindowOfTheCall()

    def forward(self, x):
        self.window.size = x.shape[0]
        return self.window(x)


class WindowOfTheCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 0

    def forward(self, x):
        return x / self.size


class CountsAfreshInEveryCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n = 0
        for _ in range(3):
            self.n += 1
        return x * self.n


class BusyWhileItRuns(nn.Module):
    def __init__(self):
        super().__init__()
        self.busy = False

    def forward(self, x):
        assert not self.busy
        self.busy = True
        x = x * 2
        self.busy = False
        return x


class SetsAPropertyThenReadsIt(nn.Module):
    def __init__(self):
        super().__init__()
        self._steps = 1

    @property
    def steps(self):
        return self._steps

    @steps.setter
    def steps(self, value):
        self._steps = value

    def forward(self, x):
        self.steps = 5
        return x * self.steps


class CountsInALocal(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = 2

    def forward(self, x):
        n = self.start
        for _ in range(3):
            n += 1
        return x * n


class KeepsTheLastLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = None

    def forward(self, x):
        self.loss = x.mean()
        return x * self.loss


class ResetsItsLossFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = None

    def forward(self, x):
        self.loss = None
        for _ in range(2):
            self.loss = x.mean() if self.loss is None else self.loss + x.mean()
        return x * 2


class SumsInAZeroTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = torch.zeros(())

    def forward(self, x):
        self.total = self.total + x.mean()
        return x * 2


class TensorInADict(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {"mean": torch.zeros(()), "last": None}

    def forward(self, x):
        self.stats["mean"].mul_(0.9)
        self.stats["last"] = x.mean()
        return x * 2


class OptionalPartThatIsNeverThere(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = None

    def forward(self, x):
        return x * 2 if self.norm is None else self.norm(x)


class ReadsTheEnvironmentOnce(nn.Module):
    def __init__(self):
        super().__init__()
        self.fast = os.environ.get("EVERYDAY_FAST", "1") == "1"

    def forward(self, x):
        return x * 2 if self.fast and FAST else x * 3


class LooksUpByAConstantName(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 2.0

    def forward(self, x):
        return x * getattr(self, "gain", 1.0) if hasattr(self, "gain") else x


class LooksUpByAnAttributeThatStays(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind, self.layers = "relu", 2
        self.act_relu, self.act_0, self.act_1 = torch.relu, torch.tanh, torch.neg

    def forward(self, x):
        x = getattr(self, "act_" + self.kind)(x)
        for i in range(self.layers):
            x = getattr(self, f"act_{i}")(x)
        return x


class LooksUpInAHelperByConstants(nn.Module):
    def __init__(self):
        super().__init__()
        self.act_relu, self.act_tanh = torch.relu, torch.tanh

    def _apply_named(self, x, name):
        return getattr(self, name)(x)

    def forward(self, x):
        return self._apply_named(x, "act_relu") + self._apply_named(x, "act_tanh")


class LooksUpADefaultNobodyOverrides(nn.Module):
    def __init__(self):
        super().__init__()
        self.act_0, self.act_1 = torch.relu, torch.tanh

    def forward(self, x, k: int = 1):
        return getattr(self, f"act_{k}")(x)


class StoresUnderANameThatFolds(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = "mean"

    def forward(self, x):
        setattr(self, "last_" + self.kind, x.mean())
        return x * 2


class ReadsWithoutUsing(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def advance(self):
        self.step += 1

    def forward(self, x):
        _ = self.step
        return x * 2


class CountsOnlyWhereNothingIsCompiled(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        if not torch.compiler.is_compiling():
            self.calls += 1  # expect: DYN304 stale
        return x * 2


for case in (
    ReadsItsConfiguration,
    WrittenThenReadByAMethod,
    WrittenThenReadByASubmodule,
    CountsAfreshInEveryCall,
    BusyWhileItRuns,
    SetsAPropertyThenReadsIt,
    CountsInALocal,
    KeepsTheLastLoss,
    ResetsItsLossFirst,
    SumsInAZeroTensor,
    TensorInADict,
    OptionalPartThatIsNeverThere,
    ReadsTheEnvironmentOnce,
    LooksUpByAConstantName,
    LooksUpByAnAttributeThatStays,
    LooksUpInAHelperByConstants,
    LooksUpADefaultNobodyOverrides,
    StoresUnderANameThatFolds,
    ReadsWithoutUsing,
    CountsOnlyWhereNothingIsCompiled,
):
    compiled = torch.compile(case())


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = True

    def forward(self, x):
        if (
            self.wide  # the usual case
            and x.dim() > 1  # everything that comes in
        ):
            return x * 2
        return x


chosen = torch.compile(Chosen())  # quiet
