"""State that looks like a counter and costs nothing: every class here must stay quiet."""

import numpy as np
import torch
from torch import nn


class BufferIncrementedInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.n += 1
        return x * self.n


class BufferRebound(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x):
        self.n = self.n + 1
        return x * self.n


class PlainTensorUpdated(nn.Module):
    def __init__(self):
        super().__init__()
        self.usage = torch.zeros(())

    def forward(self, x):
        self.usage = self.usage * 0.9 + x.mean()
        return x * self.usage


class WrittenOnlyInSetUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 0
        self._grow()

    def _grow(self):
        self.depth += 1

    def forward(self, x):
        return x * self.depth


class CountedOnlyInADisabledMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    @torch.compiler.disable(reason="counts calls for a report")
    def tick(self):
        self.n += 1

    def forward(self, x):
        y = x * 2
        self.tick()
        return y + 1


class CountedOnlyWhenScripting(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if torch.jit.is_scripting():
            self.n += 1
        return x * 2


class WriteOnlyConstant(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = 0

    def forward(self, x):
        self.last = 7
        return x * 2


class WriteOnlyShape(nn.Module):
    def __init__(self):
        super().__init__()
        self.length = 0

    def forward(self, x):
        self.length = x.shape[0]
        return x * 2


class WriteOnlyTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = None

    def forward(self, x):
        self.attention = x.softmax(-1)
        return x * 2


class SameConstantAgain(nn.Module):
    def __init__(self):
        super().__init__()
        self.ready = True

    def forward(self, x):
        y = x * 2 if self.ready else x
        self.ready = True
        return y


class WrittenBeforeItIsRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.height = 0

    def forward(self, x):
        self.height = x.shape[0]
        return x.reshape(self.height, -1)


class WrittenBeforeAHelperReadsIt(nn.Module):
    def __init__(self):
        super().__init__()
        self.height = 0

    def _attend(self, x):
        return x.reshape(self.height, -1)

    def forward(self, x):
        self.height = x.shape[0]
        return self._attend(x)


class WrittenByAHelperBeforeItIsRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.height = 0

    def _measure(self, x):
        self.height = x.shape[0]

    def forward(self, x):
        self._measure(x)
        return x.reshape(self.height, -1)


class ChildToldItsSize(nn.Module):
    def __init__(self):
        super().__init__()
        self.height = 0

    def forward(self, x):
        return x.reshape(self.height, -1)


class ParentTellsItsChildren(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([ChildToldItsSize() for _ in range(2)])

    def forward(self, x):
        for block in self.blocks:
            block.height = x.shape[0]
            x = block(x)
        return x


class WrittenOnBothBranchesBeforeTheRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x):
        if x.shape[0] > 2:
            self.scale = 2
        else:
            self.scale = 3
        return x * self.scale


class WrittenAndReadUnderTheSameTest(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x, wide: bool = False):
        if wide:
            self.scale = x.shape[0]
        y = x * 2
        if wide:
            y = y * self.scale
        return y


class LocalCounter(nn.Module):
    def forward(self, x):
        n = 0
        for _ in range(3):
            n += 1
        return x * n


class NumpyScalar(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = np.zeros(1)

    def forward(self, x):
        self.n += 1
        return x * 2


class ReadAndDiscarded(nn.Module):
    def __init__(self):
        super().__init__()
        self.flag = False

    def forward(self, x):
        _ = self.flag
        self.flag = True
        return x * 2


class MentionedOnlyInAnError(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = 0

    def forward(self, x):
        if x.dim() > 5:
            raise ValueError(f"after {self.last} rows")
        self.last = x.shape[0]
        return x * 2


class ArgumentKeptButNotRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x, step: int = 0):
        self.step = step
        return x * 2


class CounterOfAFreshObject:
    def __init__(self):
        self.n = 0

    def add(self):
        self.n += 1
        return self.n


class UsesAFreshObject(nn.Module):
    def forward(self, x):
        counter = CounterOfAFreshObject()
        counter.add()
        return x * counter.n


class BatchNormSubclass(nn.BatchNorm1d):
    def __init__(self):
        super().__init__(4)

    def forward(self, x):
        self.num_batches_tracked += 1
        return super().forward(x)


class UnknownStart(nn.Module):
    def __init__(self, start=None):
        super().__init__()
        self.total = start

    def forward(self, x):
        if self.total is not None:
            self.total += 1
        return x * 2


class OutsideWrites(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def set_scale(self, scale):
        self.scale = scale

    def forward(self, x):
        return x * self.scale


class GrowingListOfTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.outputs = []

    def forward(self, x):
        self.outputs = []
        self.outputs.append(x)
        return x * 2


class DictOfTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {"loss": torch.zeros(())}

    def forward(self, x):
        self.stats["loss"] = x.mean()
        return x * 2


class TupleOfTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = (torch.zeros(4, 4), torch.zeros(4, 4))

    def forward(self, x):
        first, second = self.state
        self.state = (second, x * 2)
        return x + first


class TensorInsideOfAPlainDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = {"n": torch.zeros(())}

    def forward(self, x):
        self.state["n"] += 1
        return x * self.state["n"]


class ResetByTheCallerButNeverReadHere(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = 0.0

    def forward(self, x):
        self.loss = x.pow(2).mean()
        return x * 2


class RestoredFromALocal(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "a"

    def forward(self, x):
        self.mode = self.mode
        return x * 2


for case in (
    BufferIncrementedInPlace,
    BufferRebound,
    PlainTensorUpdated,
    WrittenOnlyInSetUp,
    CountedOnlyInADisabledMethod,
    CountedOnlyWhenScripting,
    WriteOnlyConstant,
    WriteOnlyShape,
    WriteOnlyTensor,
    SameConstantAgain,
    WrittenBeforeItIsRead,
    WrittenBeforeAHelperReadsIt,
    WrittenByAHelperBeforeItIsRead,
    ParentTellsItsChildren,
    WrittenOnBothBranchesBeforeTheRead,
    WrittenAndReadUnderTheSameTest,
    LocalCounter,
    NumpyScalar,
    ReadAndDiscarded,
    MentionedOnlyInAnError,
    ArgumentKeptButNotRead,
    UsesAFreshObject,
    UnknownStart,
    OutsideWrites,
    GrowingListOfTensors,
    DictOfTensors,
    TupleOfTensors,
    TensorInsideOfAPlainDict,
    ResetByTheCallerButNeverReadHere,
    RestoredFromALocal,
):
    compiled = torch.compile(case())
compiled = torch.compile(BatchNormSubclass())


class RestoredFurtherDown(nn.Module):
    def __init__(self):
        super().__init__()
        self.recompute = True

    def _rest(self, x):
        return x * 2 if self.recompute else x * 3

    def forward(self, x):
        before = self.recompute
        self.recompute = False
        x = self._rest(x)
        self.recompute = before
        return x if self.recompute else x + 1


class OverriddenForTheTimeBeing(nn.Module):
    def __init__(self):
        super().__init__()
        self.parallel = True

    def forward(self, x):
        off = False
        if self.parallel:
            x = x + 1
            self.parallel = False
            off = True
        x = x * 2
        if off:
            self.parallel = True
        return x


compiled = torch.compile(RestoredFurtherDown())
compiled = torch.compile(OverriddenForTheTimeBeing())
