"""The code around regions: hooks, modes, resets, guards that are dropped, results that nobody keeps."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return F.relu(self.proj(x))


class DropsSome(Net):
    def forward(self, x):
        return F.dropout(self.proj(x), 0.1, self.training)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def forgets(model):
    torch.compile(model)  # expect: DYN501 eager
    return model


def rebinds_a_parameter(model):
    model = torch.compile(model, fullgraph=True)  # expect: DYN501 eager


class CompilesItself(Net):
    def prepare(self):
        self = torch.compile(self)  # expect: DYN501 eager


class CompilesItselfAndSetsUp(Net):
    def prepare(self):
        self = torch.compile(self)  # expect: DYN501 eager
        self.eval()


class Generates(Net):
    def generate(self, x):
        for _ in range(2):
            x = self(x)
        return x


def calls_past_it(model: Generates, x):
    model = torch.compile(model)  # expect: DYN501 eager
    model.eval()
    return model.generate(x), model.proj.weight.dtype


def calls_it_beside(model: Generates, x):  # quiet
    model = torch.compile(model)
    return model.generate(x), model(x)


def calls_what_a_method_gives_back(model: Net, x):  # quiet
    compiled = torch.compile(model)
    run = compiled.eval()
    return run(x)


def calls_its_forward(model: Net, x):  # quiet
    model = torch.compile(model)
    return model.forward(x)


def compiles_with_it(model: Net, x):  # quiet: as Composer does, for the class to stay what it is
    compiled = torch.compile(model)
    model = compiled._orig_mod
    model.forward = compiled.dynamo_ctx(model.forward)
    return model(x)


def calls_it_in_a_function_above(model: Net, x):  # quiet
    def step(x):
        return model(x)

    model = torch.compile(model)
    return step(x)


def returns_it(model):  # quiet
    compiled = torch.compile(model)
    print("compiled")
    return compiled


def compiles_in_place(model: Net):  # quiet
    model.compile()


def hands_it_on(model, trainer):  # quiet
    run = torch.compile(model)
    trainer.fit(run)


def hook_after_a_call(x):
    model = Net()
    run = torch.compile(model)
    run(x)
    model.proj.register_forward_hook(print)  # expect: DYN302 stale
    return run(x)


def hook_before_any_call(x):  # quiet
    model = Net()
    run = torch.compile(model)
    model.proj.register_forward_pre_hook(print)
    return run(x)


def hook_on_the_model_itself(x):  # quiet: the root's hooks are seen
    model = Net()
    run = torch.compile(model)
    run(x)
    model.register_forward_hook(print)
    return run(x)


def filtered():
    return torch.compile(Counter(), options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})


def validates_now_and_then(batches):
    run = torch.compile(Net())
    for step, x in enumerate(batches):
        loss = run(x).mean()
        loss.backward()
        if step % 10 == 0:
            with torch.no_grad():  # expect: DYN110 once
                run(x)


def never_has_gradients(batches):  # quiet
    run = torch.compile(Net())
    for x in batches:
        with torch.no_grad():
            run(x)


def two_modes_but_one_region(batches):  # quiet: nothing in the region asks
    model = Net()
    run = torch.compile(model)
    with torch.autocast("cuda", torch.bfloat16):
        for x in batches:
            run(x)


def thaws(batches):
    model = Net()
    run = torch.compile(model)
    for step, x in enumerate(batches):
        model.proj.weight.requires_grad_(step > 100)  # expect: DYN110 once
        run(x)


def resets_in_the_loop(batches):
    run = torch.compile(Net())
    for x in batches:
        torch._dynamo.reset()  # expect: DYN111 storm
        run(x)


def resets_once(batches):  # quiet
    torch._dynamo.reset()
    run = torch.compile(Net())
    for x in batches:
        run(x)


def measures(backends, batches):  # quiet: a benchmark compiles once per backend, and runs many times
    for backend in backends:
        torch._dynamo.reset()
        run = torch.compile(Net(), backend=backend)
        for x in batches:
            run(x)


def compiles_the_same_again(batches):  # quiet: the code is the same, and so is found again
    for x in batches:
        torch.compile(lambda y: y * 2)(x)


def fresh_backend(batches):
    for x in batches:
        torch.compile(Net(), backend=lambda graph, inputs: graph)(x)  # expect: DYN111 storm


class Kernels:
    @staticmethod
    def scale(x):
        return x * 2


def wraps_again():
    Kernels.scale = torch.compile(Kernels.scale, fullgraph=True)  # expect: DYN111 once


def wraps_once():  # quiet
    if not hasattr(Kernels, "compiled"):
        Kernels.scale = torch.compile(Kernels.scale)


class LateTable(nn.Module):
    def load(self, table):
        self.table = table

    def forward(self, x):
        try:
            table = self.table  # expect: DYN305 stale
        except AttributeError:
            table = 1.0
        return x * table


class OwnTable(nn.Module):  # quiet: made the same way every time
    def forward(self, x):
        try:
            table = self.table
        except AttributeError:
            self.table = table = torch.arange(4.0)
        return x * table


class NoTable(nn.Module):  # quiet: never there
    def forward(self, x):
        try:
            table = self.table
        except AttributeError:
            table = 1.0
        return x * table


late = torch.compile(LateTable())
own = torch.compile(OwnTable())
none = torch.compile(NoTable())
