"""getattr and its kin, and reads of the environment."""

import os
import os as system
import random
from os import environ, getenv

import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.expert_0 = nn.Linear(4, 4)
        self.expert_1 = nn.Linear(4, 4)
        self.names = ["expert_0", "expert_1"]
        self.kind = "relu"


class FormattedIntArgument(Experts):
    def forward(self, x, k: int):
        return getattr(self, f"expert_{k}")(x)  # expect: DYN202 eager


class StrOfAnIntArgument(Experts):
    def forward(self, x, k: int):
        return getattr(self, "expert_" + str(k))(x)  # expect: DYN202 break


class NameAsArgument(Experts):
    def forward(self, x, name: str):
        return getattr(self, name)(x)  # expect: DYN202 per-value


class NameByIndex(Experts):
    def forward(self, x, k: int):
        return getattr(self, self.names[k])(x)  # expect: DYN202 per-value


class NameFromATensor(Experts):
    def forward(self, x):
        k = int(x.sum()) % 2  # expect: DYN402 break
        return getattr(self, f"expert_{k}")(x)  # expect: DYN202 break


class NameByChance(Experts):
    def forward(self, x):
        return getattr(self, random.choice(["expert_0", "expert_1"]))(x)  # expect: DYN202 break # expect: DYN401 break


class NameThroughAHelper(Experts):
    def _pick(self, name):
        return getattr(self, name)  # expect: DYN202 per-value

    def forward(self, x, name: str):
        return self._pick(name)(x)


class ConstantName(Experts):  # quiet
    def forward(self, x):
        return self.expert_0(x)


class NameOverALiteralLoop(Experts):  # quiet: loops unroll
    def forward(self, x):
        for name in ("expert_0", "expert_1"):
            x = getattr(self, name)(x)
        return x


class NameOverARange(Experts):  # quiet
    def forward(self, x):
        for i in range(2):
            x = getattr(self, f"expert_{i}")(x)
        return x


class NameFromAnAttribute(Experts):  # quiet: guarded, and nothing changes it
    def forward(self, x):
        return getattr(nn.functional, self.kind)(x)


class NameFromAListOnSelf(Experts):  # quiet
    def forward(self, x):
        for name in self.names:
            x = getattr(self, name)(x)
        return x


class NamesOfChildren(Experts):  # quiet
    def forward(self, x):
        for name, _ in self.named_children():
            x = getattr(self, name)(x)
        return x


class ConstantThroughAHelper(Experts):  # quiet
    def _pick(self, name):
        return getattr(self, name)

    def forward(self, x):
        return self._pick("expert_0")(self._pick("expert_" + "1")(x))


class DefaultNeverPassed(Experts):  # quiet
    def _pick(self, name="expert_0"):
        return getattr(self, name)

    def forward(self, x):
        return self._pick()(x)


class PresentAttribute(Experts):  # quiet
    def forward(self, x):
        if hasattr(self, "kind"):
            x = x * 2
        return x


class NeverAssigned(Experts):  # quiet
    def forward(self, x):
        return x * getattr(self, "gain", 1.0)


class LazyByHasattr(nn.Module):
    def forward(self, x):
        if not hasattr(self, "table"):
            self.table = torch.arange(4.0)  # expect: DYN104 once
        return x + self.table


class SetByAnotherMethod(nn.Module):
    def enable(self):
        self.gain = 2.0

    def forward(self, x):
        return x * getattr(self, "gain", 1.0)


class Wrapping(nn.Module):
    """A base that replaces a part of those of its heirs that have it."""

    def replace(self, part):
        self.wrapped = part

    def forward(self, x):
        wrapped = getattr(self, "wrapped", None)
        return x if wrapped is None else wrapped(x)


class WithThePart(Wrapping):  # quiet
    def __init__(self):
        super().__init__()
        self.wrapped = nn.Linear(4, 4)


class WithoutThePart(Wrapping):  # quiet: the base's setter is meant for others
    pass


class LooksIntoItsNamespace(nn.Module):
    def enable(self):
        self.gain = 2.0

    def forward(self, x):
        return x * 2 if "gain" in self.__dict__ else x * 3  # expect: DYN305 stale


class ReadsAVariable(nn.Module):
    def forward(self, x):
        return x * 2 if os.environ["MODE"] == "fast" else x * 3  # expect: DYN201 per-value


class ReadsWithGet(nn.Module):
    def forward(self, x):
        return x * 2 if system.environ.get("MODE", "") == "fast" else x * 3  # expect: DYN201 per-value


class ReadsWithGetenv(nn.Module):
    def forward(self, x):
        return x * int(os.getenv("FACTOR", "1"))  # expect: DYN301 stale


class ReadsWithImportedGetenv(nn.Module):
    def forward(self, x):
        return x * int(getenv("FACTOR", "1"))  # expect: DYN301 stale


class AsksForAKey(nn.Module):
    def forward(self, x):
        return x * 2 if "MODE" in environ else x * 3  # expect: DYN201 per-value


def debug():
    return environ.get("DEBUG") == "1"  # expect: DYN201 per-value


class ReadsInAHelper(nn.Module):
    def forward(self, x):
        return x + 1 if debug() else x * 2


class ReadsInAProperty(nn.Module):
    @property
    def fast(self):
        return os.environ.get("FAST") == "1"  # expect: DYN201 per-value

    def forward(self, x):
        return x + 1 if self.fast else x * 2


FAST = os.environ.get("FAST") == "1"


class ReadAtImport(nn.Module):  # quiet
    def forward(self, x):
        return x + 1 if FAST else x * 2


class ReadInSetUp(nn.Module):  # quiet
    def __init__(self):
        super().__init__()
        self.fast = os.environ.get("FAST") == "1"

    def forward(self, x):
        return x + 1 if self.fast else x * 2


class ReadOnlyWhenNotCompiling(nn.Module):  # quiet
    def forward(self, x):
        if not torch.compiler.is_compiling():
            os.getenv("DEBUG")
        return x * 2


class Config:
    def __init__(self):
        self.environ = {"MODE": "fast"}


class SomebodyElsesEnviron(nn.Module):  # quiet: not the process environment
    def __init__(self):
        super().__init__()
        self.config = Config()

    def forward(self, x):
        return x * 2 if self.config.environ["MODE"] == "fast" else x * 3


for case in (
    FormattedIntArgument,
    StrOfAnIntArgument,
    NameAsArgument,
    NameByIndex,
    NameFromATensor,
    NameByChance,
    NameThroughAHelper,
    ConstantName,
    NameOverALiteralLoop,
    NameOverARange,
    NameFromAnAttribute,
    NameFromAListOnSelf,
    NamesOfChildren,
    ConstantThroughAHelper,
    DefaultNeverPassed,
    PresentAttribute,
    NeverAssigned,
    LazyByHasattr,
    SetByAnotherMethod,
    WithoutThePart,
    LooksIntoItsNamespace,
    ReadsAVariable,
    ReadsWithGet,
    ReadsWithGetenv,
    ReadsWithImportedGetenv,
    AsksForAKey,
    ReadsInAHelper,
    ReadsInAProperty,
    ReadAtImport,
    ReadInSetUp,
    ReadOnlyWhenNotCompiling,
    SomebodyElsesEnviron,
):
    compiled = torch.compile(case())
