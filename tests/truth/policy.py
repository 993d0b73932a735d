"""Where compiling is asked for, and what goes around it, switches it off, hides that it failed, or undoes it."""

import contextlib
import copy
import dataclasses
import functools
import itertools
import os
import random

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).relu()


class Wave(nn.Module):
    def forward(self, x):
        return (x * 2).sin()


# %% a layer of torch compiled in place
def drive():
    torch.manual_seed(0)
    layer = nn.Linear(4, 4)
    layer.compile()  # expect: DYN502 eager
    for _ in range(12):
        yield layer(X)


# %% a layer of torch wrapped
def drive():
    torch.manual_seed(0)
    layer = torch.compile(nn.Linear(4, 4))
    for _ in range(12):
        yield layer(X)


# %% a helper compiles whatever it finds in a stack of torch's layers
def prepare(model):
    for child in model.children():
        child.compile(dynamic=True)  # expect: DYN502 eager
    return model


def drive():
    torch.manual_seed(0)
    stack = prepare(nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)))
    for _ in range(12):
        yield stack(X)


# %% a stack of torch's layers as a part of a model, compiled by the model
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.body.compile()  # expect: DYN502 eager

    def forward(self, x):
        return self.body(x)


def drive():
    tower = Tower()
    for _ in range(12):
        yield tower(X)


# %% a stack of torch's layers and of our own, compiled in place
def drive():
    stack = nn.Sequential(Net(), nn.ReLU())
    stack.compile()
    for _ in range(12):
        yield stack(X)


# %% a part of torch compiled in place within a model that is compiled as well
def drive():
    net = Net()
    net.linear.compile()
    net.compile()
    for _ in range(12):
        yield net(X)


# %% a stack of torch's layers with a forward of its own
class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def drive():
    torch.manual_seed(0)
    stack = Residual(nn.Linear(4, 4), nn.ReLU())
    stack.compile()
    for _ in range(12):
        yield stack(X)


# %% a layer of torch under another name, in another file
from layers import projection


def drive():
    torch.manual_seed(0)
    layer = projection()
    for _ in range(12):
        yield layer(X)


# file: layers.py
from torch import nn


class Projection(nn.Linear):
    """Nothing but a name."""


def projection():
    made = Projection(4, 4)
    made.compile()  # expect: DYN502 eager
    return made


# %% a trainer calls forward by name
class Trainer:
    def __init__(self, model):
        self.model = model
        self.model.compile()

    def step(self, x):
        return self.model.forward(x)  # expect: DYN503 eager


def drive():
    trainer = Trainer(Net())
    for _ in range(12):
        yield trainer.step(X)


# %% a trainer calls what it compiled
class Trainer:
    def __init__(self, model):
        self.model = model
        self.model.compile()

    def step(self, x):
        return self.model(x)


def drive():
    trainer = Trainer(Net())
    for _ in range(12):
        yield trainer.step(X)


# %% blocks compiled one by one, and called by their forward
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Net(), Net()])

    def forward(self, x):
        for block in self.blocks:
            x = block.forward(x)  # expect: DYN503 eager
        return x


def drive():
    stack = Stack()
    for block in stack.blocks:
        block.compile()
    for _ in range(12):
        yield stack(X)


# %% forward called by name before anything is compiled
def drive():
    net = Net()
    net.forward(X)
    net.compile()
    for _ in range(12):
        yield net(X)


# %% forward of the class called on a module that is compiled in place
def drive():
    net = Net()
    net.compile()
    for _ in range(12):
        yield Net.forward(net, X)  # expect: DYN503 eager


# %% what is below the wrapper is called
def drive():
    net = torch.compile(Net())
    raw = net._orig_mod
    yield net(X)
    for _ in range(11):
        yield raw(X)  # expect: DYN503 eager


# %% what is below the wrapper is only looked at
def drive():
    net = torch.compile(Net())
    weights = dict(net._orig_mod.named_parameters())
    for _ in range(12):
        yield net(X) + len(weights)


# %% an average of a module that is compiled in place
def drive():
    net = Net()
    net.compile()
    average = torch.optim.swa_utils.AveragedModel(net)  # expect: DYN503 eager
    for _ in range(12):
        yield average(X)


# %% a copy of a model whose blocks are compiled one by one
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Net(), Net()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    stack = Stack()
    for block in stack.blocks:
        block.compile()
    teacher = copy.deepcopy(stack)  # expect: DYN503 eager
    for _ in range(12):
        yield teacher(X)


# %% the original of a copy
def drive():
    net = Net()
    net.compile()
    kept = copy.deepcopy(net)
    for _ in range(12):
        yield net(X) + len(list(kept.children()))


# %% a copy of a wrapper
def drive():
    net = torch.compile(Net())
    other = copy.deepcopy(net)
    for _ in range(12):
        yield other(X)


# %% a copy made before compiling
def drive():
    net = Net()
    other = copy.deepcopy(net)
    other.compile()
    for _ in range(12):
        yield other(X)


# %% a disabled class in a wrapper
@torch.compiler.disable
class Plain(nn.Module):
    def forward(self, x):
        return x * 2


def drive():
    plain = torch.compile(Plain())  # expect: DYN503 eager
    for _ in range(12):
        yield plain(X)


# %% a disabled forward compiled in place
class Plain(nn.Module):
    @torch.compiler.disable
    def forward(self, x):
        return x * 2


def drive():
    plain = Plain()
    plain.compile()  # expect: DYN503 eager
    for _ in range(12):
        yield plain(X)


# %% a disabled function that is compiled by itself
@torch.compiler.disable
def double(x):
    return x * 2 + 1


def drive():
    run = torch.compile(double)
    for _ in range(12):
        yield run(X)


# %% eager for good by a call
def drive():
    torch.compiler.set_stance("force_eager")  # expect: DYN504 eager
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)
    torch.compiler.set_stance("default")


# %% eager while something is looked at, and compiled afterwards
def drive():
    run = torch.compile(Wave())
    with torch.compiler.set_stance("force_eager"):
        reference = torch.ones(2)
    for _ in range(12):
        yield run(X) + reference[0]


# %% a setting of dynamo that is off again
def drive():
    torch._dynamo.config.disable = True
    torch._dynamo.config.disable = False
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)


# %% switched off around the calls
def drive():
    run = torch.compile(Wave())
    with torch._dynamo.config.patch(disable=True):  # expect: DYN504 eager
        for _ in range(12):
            yield run(X)


# %% disabled by an argument
def drive():
    run = torch.compile(Wave(), disable=True)  # expect: DYN504 eager
    for _ in range(12):
        yield run(X)


# %% disabled by an argument that is off
EAGER = os.environ.get("WAVE_EAGER", "0") == "1"


def drive():
    run = torch.compile(Wave(), disable=EAGER)
    for _ in range(12):
        yield run(X)


# %% an escape hatch that is open unless somebody closes it
def drive():
    run = torch.compile(Wave(), disable=os.environ.get("WAVE_EAGER", "1") == "1")  # expect: DYN504 eager
    for _ in range(12):
        yield run(X)


# %% an escape hatch that stays closed
def drive():
    if os.environ.get("WAVE_EAGER"):
        torch._dynamo.config.disable = True
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)


# %% a variable set by an update
def drive():
    os.environ.update({"TORCHDYNAMO_DISABLE": "1"})  # expect: DYN504 eager
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)
    os.environ.pop("TORCHDYNAMO_DISABLE")


# %% a variable set and taken away
def drive():
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    del os.environ["TORCHDYNAMO_DISABLE"]
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)


# %% an operator without a fake, hidden by a setting around the calls
@torch.library.custom_op("policy_truth::roll", mutates_args=())
def roll(x: torch.Tensor) -> torch.Tensor:  # expect: DYN516 eager
    return x.flip(0)


def mixed(x):
    return roll(x) + 1


def drive():
    run = torch.compile(mixed)
    with torch._dynamo.config.patch(suppress_errors=True):  # expect: DYN505 eager
        for _ in range(12):
            yield run(X)


# %% an operator with a fake under the setting that would hide it
@torch.library.custom_op("policy_truth::turn", mutates_args=())
def turn(x: torch.Tensor) -> torch.Tensor:
    return x.flip(0)


@turn.register_fake
def _(x):
    return torch.empty_like(x)


def mixed(x):
    return turn(x) + 1


def drive():
    torch._dynamo.config.suppress_errors = True  # expect: DYN505 eager note
    run = torch.compile(mixed)
    for _ in range(12):
        yield run(X)
    torch._dynamo.config.suppress_errors = False


# %% an operator with a fake by its name
@torch.library.custom_op("policy_truth::swap", mutates_args=())
def swap(x: torch.Tensor) -> torch.Tensor:
    return x.flip(0)


torch.library.register_fake("policy_truth::swap", lambda x: torch.empty_like(x))


def drive():
    run = torch.compile(lambda x: swap(x) + 1)
    for _ in range(12):
        yield run(X)


# %% an operator without a fake that no compiled code calls
@torch.library.custom_op("policy_truth::host", mutates_args=())
def host(x: torch.Tensor) -> torch.Tensor:
    return x.flip(0)


def drive():
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(host(X))


# %% an operator without a fake, and a caller that does without compiling
@torch.library.custom_op("policy_truth::spin", mutates_args=())
def spin(x: torch.Tensor) -> torch.Tensor:  # expect: DYN516 eager
    return x.flip(0)


def mixed(x):
    return spin(x) + 1


class Guarded:
    def __init__(self):
        self.fast = torch.compile(mixed)

    def __call__(self, x):
        try:
            return self.fast(x)
        except RuntimeError:  # expect: DYN505 eager
            return mixed(x)


def drive():
    run = Guarded()
    for _ in range(12):
        yield run(X)


# %% a whole graph that breaks, and a caller that does without
class Talking(nn.Module):
    def forward(self, x):
        print(end="")
        return x * 2


def drive():
    slow = Talking()
    fast = torch.compile(slow, fullgraph=True)
    for _ in range(12):
        try:
            y = fast(X)
        except Exception:  # expect: DYN505 eager
            y = slow(X)
        yield y


# %% a failure that is passed on
def drive():
    fast = torch.compile(Wave(), fullgraph=True)
    for _ in range(12):
        try:
            y = fast(X)
        except Exception:
            print("not compiled")
            raise
        yield y


# %% a narrow handler around a compiled call
def drive():
    fast = torch.compile(Wave())
    for _ in range(12):
        try:
            y = fast(X)
        except KeyError:
            y = X
        yield y


# %% static sizes and a list of lengths
LENGTHS = [3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25]


def drive():
    run = torch.compile(Wave(), dynamic=False)
    for length in LENGTHS:
        yield run(torch.zeros(length, 4))  # expect: DYN506 storm


# %% static sizes and two buckets
BUCKETS = (8, 16)


def padded(length):
    size = next(bucket for bucket in BUCKETS if bucket >= length)
    return torch.zeros(size, 4)


def drive():
    run = torch.compile(Wave(), dynamic=False)
    for length in (3, 9, 12, 5, 7, 16, 8, 11, 2, 10, 4, 6):
        yield run(padded(length))  # expect: DYN506 once


# %% static sizes and four buckets
def drive():
    run = torch.compile(Wave(), dynamic=False)
    for step in range(12):
        yield run(torch.zeros(4 * (1 + step % 4), 4))  # expect: DYN506 per-value


# %% static sizes and batches that are all padded
def drive():
    run = torch.compile(Wave(), dynamic=False)
    for length in range(1, 13):
        batch = torch.zeros(length, 4)
        yield run(nn.functional.pad(batch, (0, 0, 0, 16 - length)))


# %% static sizes and a generator of batches in another file
from feed import batches


def drive():
    run = torch.compile(Wave(), dynamic=False)
    for batch in batches():
        yield run(batch)  # expect: DYN506 storm


# file: feed.py
import torch


def batches():
    for length in range(2, 14):
        yield torch.full((length, 4), 0.5)


# %% static sizes and slices of one tensor
LONG = torch.linspace(0.0, 1.0, 64).reshape(16, 4)


def drive():
    run = torch.compile(Wave(), dynamic=False)
    for stop in range(3, 15):
        yield run(LONG[:stop])  # expect: DYN506 storm


# %% static sizes and slices of one length
LONG = torch.linspace(0.0, 1.0, 64).reshape(16, 4)


def drive():
    run = torch.compile(Wave(), dynamic=False)
    for start in range(12):
        yield run(LONG[start : start + 4])


# %% no automatic sizes while the calls are made
def drive():
    run = torch.compile(Wave())
    length = 2
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        while length < 14:
            yield run(torch.zeros(length, 4))  # expect: DYN506 storm
            length += 1


# %% static sizes and the wrong axis marked
def drive():
    torch._dynamo.config.automatic_dynamic_shapes = False
    run = torch.compile(Wave())
    for length in range(2, 14):
        batch = torch.zeros(length, 4)
        torch._dynamo.maybe_mark_dynamic(batch, 1)
        yield run(batch)  # expect: DYN506 storm
    torch._dynamo.config.automatic_dynamic_shapes = True


# %% marked, and one batch of size one
def drive():
    torch._dynamo.config.automatic_dynamic_shapes = False
    run = torch.compile(Wave())
    for length in (5, 7, 1, 9, 11, 4, 6, 8, 10, 3, 2, 12):
        batch = torch.zeros(length, 4)
        torch._dynamo.maybe_mark_dynamic(batch, 0)
        yield run(batch)  # expect: DYN506 once
    torch._dynamo.config.automatic_dynamic_shapes = True


# %% everything dynamic from the start
def drive():
    run = torch.compile(Wave(), dynamic=True)
    for length in range(2, 14):
        yield run(torch.zeros(length, 4))


# %% a length drawn at random
def drive():
    random.seed(0)
    run = torch.compile(Wave())
    for _ in range(12):
        length = random.randint(2, 30)
        yield run(torch.zeros(length, 4))  # expect: DYN507 once


# %% two lengths by turns
def drive():
    run = torch.compile(Wave())
    for length, _ in zip(itertools.cycle([4, 6]), range(12)):
        yield run(torch.zeros(length, 4))  # expect: DYN507 once


# %% the first batch marked, automatic sizes
def drive():
    run = torch.compile(Wave())
    for number, length in enumerate(range(2, 14)):
        batch = torch.zeros(length, 4)
        if number == 0:
            torch._dynamo.mark_dynamic(batch, 0)
        yield run(batch)


# %% a setting patched inside a function
def wave(x):
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):  # expect: DYN508 eager
        y = x * 2
    return y.sin()


def drive():
    run = torch.compile(wave)
    for _ in range(12):
        yield run(X)


# %% a setting made before the first call
def drive():
    torch._dynamo.config.capture_scalar_outputs = True
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)
    torch._dynamo.config.capture_scalar_outputs = False


# %% a setting read inside the region
class Limited(nn.Module):
    def forward(self, x):
        if torch._dynamo.config.recompile_limit > 1000:
            return x
        return x * 2


def drive():
    run = torch.compile(Limited())
    for _ in range(12):
        yield run(X)


# %% deterministic algorithms for every other call
def drive():
    run = torch.compile(Wave())
    for number in range(12):
        torch.use_deterministic_algorithms(number % 2 == 0)  # expect: DYN509 once
        yield run(X)
    torch.use_deterministic_algorithms(False)


# %% another number of threads for each call
def drive():
    run = torch.compile(Wave())
    for number in range(12):
        torch.set_num_threads(1 + number)  # expect: DYN509 storm
        yield run(X)
    torch.set_num_threads(1)


# %% another precision of matrix products in the second half
def drive():
    net = Net()
    net.compile()
    for number in range(12):
        if number == 6:
            torch.set_float32_matmul_precision("high")  # expect: DYN509 once
        yield net(X)
    torch.set_float32_matmul_precision("highest")


# %% another default dtype between two phases
def phase(run, dtype):
    torch.set_default_dtype(dtype)  # expect: DYN509 once
    for _ in range(6):
        yield run(X)


def drive():
    run = torch.compile(Wave())
    yield from phase(run, torch.float64)
    yield from phase(run, torch.float32)


# %% a default dtype that is set again and again to what it is
def drive():
    run = torch.compile(Wave())
    for _ in range(12):
        torch.set_default_dtype(torch.float32)
        yield run(X)


# %% the seed set before each call
def drive():
    run = torch.compile(Wave())
    for number in range(12):
        torch.manual_seed(number)
        yield run(X)


# %% threads set before compiling, once for each worker
def drive():
    for number in (4, 2, 1):
        torch.set_num_threads(number)
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)


# %% a warm-up in inference mode
def warm_up(run):
    with torch.inference_mode():  # expect: DYN110 once
        run(X)


def drive():
    net = Net()
    net.compile()
    warm_up(net)
    for _ in range(12):
        yield net(X)


# %% a warm-up in the mode of the run
def drive():
    net = Net()
    net.compile()
    with torch.no_grad():
        net(X)
    for _ in range(12):
        with torch.no_grad():
            y = net(X)
        yield y


# %% a reset in a generator of another file
from feed import rounds


def drive():
    net = Net()
    net.compile()
    for x in rounds(12):
        yield net(x)


# file: feed.py
import torch


def rounds(number):
    for _ in range(number):
        torch._dynamo.reset()  # expect: DYN111 storm
        yield torch.ones(2, 4)


# %% a reset between two models
def drive():
    for make in (Net, Wave):
        torch.compiler.reset()
        run = torch.compile(make())
        for _ in range(6):
            yield run(X)


# %% a partial of torch.compile that is static
static = functools.partial(torch.compile, dynamic=False)


def drive():
    run = static(Wave())
    for length in range(2, 14):
        yield run(torch.zeros(length, 4))  # expect: DYN506 storm


# %% chain of movers then compile, forward called
def drive():
    net = Net().to("cpu").eval()
    net.compile()
    for _ in range(12):
        yield net.forward(X)  # expect: DYN503 eager


# %% forward of another instance
def drive():
    net, other = Net(), Net()
    net.compile()
    yield other.forward(X) if False else net(X)
    for _ in range(11):
        yield net(X)


# %% module dict of layers compiled one by one
def drive():
    torch.manual_seed(0)
    parts = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Tanh()})
    for part in parts.values():
        part.compile()  # expect: DYN502 eager
    for _ in range(12):
        yield parts["b"](parts["a"](X))


# %% transformer encoder
def drive():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    encoder.compile()  # expect: DYN502 eager
    for _ in range(12):
        yield encoder(X.reshape(2, 1, 4))


# %% decorated method
class Deco(nn.Module):
    @torch.compile(dynamic=False)
    def forward(self, x):
        return (x * 2).sin()


def drive():
    model = Deco()
    for length in range(2, 14):
        yield model(torch.ones(length, 4))  # expect: DYN506 storm


# %% decorated function
@torch.compile
def wave(x):
    return (x * 2).sin()


def drive():
    for length in (4, 6, 8, 10, 12, 14):
        yield wave(torch.ones(length, 4))  # expect: DYN507 once


# %% sizes by repeat
def drive():
    run = torch.compile(Wave(), dynamic=False)
    for times in range(1, 13):
        yield run(X.repeat(times, 1))  # expect: DYN506 storm


# %% sizes by cat
def drive():
    run = torch.compile(Wave(), dynamic=False)
    for times in range(1, 13):
        yield run(torch.cat([X] * times))  # expect: DYN506 storm


# %% sizes by stack in a list of batches
BATCHES = [torch.ones(length, 4) for length in range(2, 14)]


def drive():
    run = torch.compile(Wave(), dynamic=False)
    for batch in BATCHES:
        yield run(batch)  # expect: DYN506 storm


# %% same sizes by reshape
def drive():
    run = torch.compile(Wave(), dynamic=False)
    for k in range(12):
        yield run(torch.arange(8.0 + 0 * k).reshape(2, 4))


# %% keyword tensors
class Two(nn.Module):
    def forward(self, x, mask=None):
        return x * mask


def drive():
    run = torch.compile(Two(), dynamic=False)
    for n in range(2, 14):
        yield run(x=torch.ones(n, 4), mask=torch.ones(n, 4))  # expect: DYN506 storm


# %% decorator of no_grad on the warm up
@torch.no_grad()
def warm(run):
    run(X)


def drive():
    net = Net()
    net.compile()
    warm(net)  # expect: DYN110 once
    for _ in range(12):
        yield net(X)


# %% evaluation every epoch
def train(net):
    return net(X)


def evaluate(net):
    with torch.no_grad():  # expect: DYN110 once
        return net(X)


def drive():
    net = Net()
    net.compile()
    for _ in range(6):
        yield train(net)
        yield evaluate(net)


# %% stance as a decorator
@torch.compiler.set_stance("force_eager")
def run_eagerly(run):
    return run(X)  # expect: DYN504 eager


def drive():
    run = torch.compile(Wave())
    for _ in range(12):
        yield run_eagerly(run)


# %% dataclass options
@dataclasses.dataclass
class Options:
    compile: bool = True
    dynamic: bool = False


class Runner:
    def __init__(self, options):
        self.options = options
        self.run = Wave()
        if options.compile:
            self.run = torch.compile(self.run, dynamic=options.dynamic)

    def step(self, x):
        return self.run(x)  # expect: DYN506 storm


def drive():
    runner = Runner(Options())
    for length in range(2, 14):
        yield runner.step(torch.zeros(length, 4))


# %% disable false
def drive():
    run = torch.compile(Wave(), disable=False)
    for _ in range(12):
        yield run(X)


# %% constant switch
USE_COMPILE = False


def drive():
    run = torch.compile(Wave(), disable=not USE_COMPILE)  # expect: DYN504 eager
    for _ in range(12):
        yield run(X)


# %% setdefault in the environment
def drive():
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # expect: DYN504 eager
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)
    del os.environ["TORCHDYNAMO_DISABLE"]


# %% contextlib suppress around a failing call
def picky(x):
    if x.sum() > 0:
        return x * 2
    return x


def drive():
    fast = torch.compile(picky, fullgraph=True)
    for _ in range(12):
        y = None
        with contextlib.suppress(Exception):  # expect: DYN505 eager
            y = fast(X)
        yield picky(X) if y is None else y


# %% flag that gives up after the first failure
def picky(x):
    if x.sum() > 0:
        return x * 2
    return x


class Guarded:
    def __init__(self):
        self.fast = torch.compile(picky, fullgraph=True)
        self.broken = False

    def __call__(self, x):
        if not self.broken:
            try:
                return self.fast(x)
            except Exception:  # expect: DYN505 eager
                self.broken = True
        return picky(x)


def drive():
    run = Guarded()
    for _ in range(12):
        yield run(X)


# %% copy of a compiled part
class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.net.compile()

    def forward(self, x):
        return self.net(x)


def drive():
    a = Holder()
    b = copy.copy(a.net)  # expect: DYN503 eager
    for _ in range(12):
        yield b(X)


# %% default device set once inside
def drive():
    torch.set_default_device("cpu")
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)
    torch.set_default_device(None)


# %% threads set in a finally
def drive():
    run = torch.compile(Wave())
    for n in range(12):
        before = torch.get_num_threads()
        try:
            y = run(X)
        finally:
            torch.set_num_threads(before)
        yield y


# %% deterministic around evaluation
@contextlib.contextmanager
def deterministic():
    torch.use_deterministic_algorithms(True)  # expect: DYN509 once
    yield
    torch.use_deterministic_algorithms(False)


def drive():
    run = torch.compile(Wave())
    for n in range(12):
        if n % 3 == 0:
            with deterministic():
                y = run(X)
        else:
            y = run(X)
        yield y


# %% setting patched in a helper that the region calls first
def quiet(x):
    with torch._dynamo.config.patch(capture_scalar_outputs=True):  # expect: DYN508 break
        return (x * 2).sin()


class Block(nn.Module):
    def forward(self, x):
        return quiet(x.cos()).cos()


def drive():
    block = Block()
    block.compile()
    for _ in range(12):
        yield block(X)


# %% a child whose forward is patched by a decorator
class Inner(nn.Module):
    @torch._dynamo.config.patch(capture_scalar_outputs=True)  # expect: DYN508 break
    def forward(self, x):
        return (x * 2).sin()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x.cos()).cos()


def drive():
    block = Block()
    block.compile()
    for _ in range(12):
        yield block(X)


# %% a head that is a layer of torch is compiled with a mode
class Headed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Net()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x))


def drive():
    model = Headed()
    model.head.compile(mode="default")  # expect: DYN502 eager
    for _ in range(12):
        yield model(X)


# %% the average of weights of a compiled module, which is only updated
class Average:
    def __init__(self, model):
        self.shadow = copy.deepcopy(model)

    def update(self, model):
        for mine, theirs in zip(self.shadow.parameters(), model.parameters()):
            mine.data.lerp_(theirs.data, 0.1)


def drive():
    net = Net()
    average = Average(net)
    net.compile()
    for _ in range(12):
        out = net(X)
        average.update(net)
        yield out


# %% a wrapper unwrapped by getattr with a default, and called
def unwrap(model):
    return getattr(model, "_orig_mod", model)


def drive():
    net = torch.compile(Net())
    plain = unwrap(net)  # expect: DYN503 eager
    for _ in range(12):
        yield plain(X)


# %% a wrapper unwrapped to count its weights
def drive():
    net = torch.compile(Net())
    weights = sum(one.numel() for one in net._orig_mod.parameters())
    for _ in range(12):
        yield net(X) * weights


# %% a stance set by a function that prepares
def prepare():
    torch.compiler.set_stance("force_eager")  # expect: DYN504 eager


def drive():
    prepare()
    run = torch.compile(Wave())
    for _ in range(12):
        yield run(X)


# %% a step that is tried compiled and done eagerly when that fails
@torch.library.custom_op("policy::clip", mutates_args=())
def clip(x: torch.Tensor) -> torch.Tensor:  # expect: DYN516 eager
    return x.clamp(-0.5, 0.5)


def step(x):
    return clip(x * 2) + 1


def drive():
    fast = torch.compile(step)
    for _ in range(12):
        try:
            out = fast(X)
        except Exception:  # expect: DYN505 eager
            out = step(X)
        yield out


# %% a step without a compiler on some machines
def drive():
    net = Net()
    try:
        step = torch.compile(net)
    except RuntimeError:
        step = net
    for _ in range(12):
        yield step(X)


# %% an operator with a fake in another file, called by a lambda
from ops import halve


def drive():
    run = torch.compile(lambda x: halve(x.sin()))
    for _ in range(12):
        yield run(X)


# file: ops.py
import torch


@torch.library.custom_op("policy::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


@halve.register_fake
def _(x):
    return torch.empty_like(x)


# %% static sizes and batches of an object that is iterated
class Batches:
    def __init__(self, lengths):
        self.lengths = lengths

    def __iter__(self):
        for length in self.lengths:
            yield torch.ones(length, 4)


def drive():
    run = torch.compile(Wave(), dynamic=False)
    for batch in Batches(range(2, 14)):
        yield run(batch)  # expect: DYN506 storm


# %% static sizes and a last batch that is dropped
def drive():
    data = torch.ones(19, 4)
    run = torch.compile(Wave(), dynamic=False)
    for _ in range(3):
        for start in range(0, 16, 4):
            yield run(data[start : start + 4])


# %% a result that is stored as the __call__ of an object
class Counting(Wave):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return super().forward(x) * self.n


def drive():
    net = Counting()
    net.__call__ = torch.compile(net.__call__)  # expect: DYN501 eager
    for _ in range(12):
        yield net(X)


# %% a result that is stored as the __call__ of an object that is no module
class Plain:
    def __call__(self, x):
        return (x * 2).sin()


def drive():
    plain = Plain()
    plain.__call__ = torch.compile(plain.__call__, dynamic=True)  # expect: DYN501 eager
    for _ in range(12):
        yield plain(X)


# %% a result that is stored as the __call__ of an object and called by that name
def drive():
    net = Wave()
    net.__call__ = torch.compile(net.__call__)
    for _ in range(12):
        yield net.__call__(X)


# %% a result that is stored as the __call__ of a class
class Other(Wave):
    pass


Other.__call__ = torch.compile(Other.__call__)


def drive():
    net = Other()
    for _ in range(12):
        yield net(X)


# %% a result that is stored as the forward of an object
def drive():
    net = Wave()
    net.forward = torch.compile(net.forward)
    for _ in range(12):
        yield net(X)


# %% a module without a forward, whose other method is called
class Decoder(nn.Module):
    def generate(self, x):
        return (x * 2).sin()


def drive():
    decoder = torch.compile(Decoder())  # expect: DYN501 eager
    for _ in range(12):
        yield decoder.generate(X)


# %% a module without a forward that is compiled in place, whose other method is called
class Decoder(nn.Module):
    def generate(self, x):
        return (x * 2).sin()


class App:
    def __init__(self):
        self.decoder = Decoder()
        self.decoder.compile()  # expect: DYN501 eager

    def run(self, x):
        return self.decoder.generate(x)


def drive():
    app = App()
    for _ in range(12):
        yield app.run(X)


# %% a module without a forward, whose method is compiled
class Decoder(nn.Module):
    def generate(self, x):
        return (x * 2).sin()


def drive():
    decoder = Decoder()
    decoder.generate = torch.compile(decoder.generate)
    for _ in range(12):
        yield decoder.generate(X)


# %% a runner that calls what it has picked by another name
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


class Runner:
    def __init__(self, model, eager=True):
        self.model, self.eager = model, eager
        self.model.compile()

    def execute(self, **kwargs):
        call = self.model.forward if self.eager else self.model
        return call(**kwargs)  # expect: DYN503 eager


def drive():
    runner = Runner(Decoder())
    for _ in range(12):
        yield runner.execute(x=X)


# %% quiet: a runner that calls the module which it has picked by another name
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


class Runner:
    def __init__(self, model, eager=False):
        self.model, self.eager = model, eager
        self.model.compile()

    def execute(self, **kwargs):
        call = self.model.forward if self.eager else self.model
        return call(**kwargs)


def drive():
    runner = Runner(Decoder())
    with torch.no_grad():
        for _ in range(12):
            yield runner.execute(x=X)


# %% options of a compile that a dataclass gives as a dict
@dataclasses.dataclass
class Options:
    backend: str = "inductor"
    dynamic: bool | None = None

    def given(self):
        return {key: value for key, value in dataclasses.asdict(self).items() if value is not None}


def drive():
    run = torch.compile(nn.Linear(4, 4), **Options(dynamic=False).given())
    with torch.no_grad():
        for count in range(1, 13):
            yield run(torch.ones(count, 4))  # expect: DYN506 storm


# %% a module without a forward that its subclass has
class Base(nn.Module):
    def generate(self, x):
        return self(x)


class Decoder(Base):
    def forward(self, x):
        return (x * 2).sin()


def drive():
    decoder = Decoder()
    decoder.compile()
    for _ in range(12):
        yield decoder.generate(X)
