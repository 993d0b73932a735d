import ctypes

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)


def train(net):
    net(torch.ones(2, 4)).sum().backward()
# %% trained, without a derivative
@torch.library.custom_op("lib::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:  # expect: DYN526
    return x * 2

@scale.register_fake
def _(x):
    return torch.empty_like(x)

class Model(Net):
    def forward(self, x):
        return scale(self.proj(x))

train(torch.compile(Model()))
# %% made by a call, in a block of which there are several
def kernel(x: torch.Tensor) -> torch.Tensor:
    return x * 2

scale = torch.library.custom_op("lib::scale", kernel, mutates_args=())  # expect: DYN526
torch.library.register_fake("lib::scale", lambda x: torch.empty_like(x))

class Block(nn.Module):
    def forward(self, x):
        return x + scale(x)

class Model(Net):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        x = self.proj(x)
        for block in self.blocks:
            x = block(x)
        return x

model = Model()
for block in model.blocks:
    block.compile()
train(model)
# %% defined by a schema
torch.library.define("lib::scale", "(Tensor x) -> Tensor")  # expect: DYN526

@torch.library.impl("lib::scale", "cpu")
def scale(x):
    return x * 2

@torch.library.register_fake("lib::scale")
def fake(x):
    return torch.empty_like(x)

class Model(Net):
    def forward(self, x):
        return torch.ops.lib.scale(self.proj(x))

train(torch.compile(Model()))
# %% the derivative takes an address
@torch.library.custom_op("lib::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@scale.register_fake
def _(x):
    return torch.empty_like(x)

LIBRARY = ctypes.CDLL(None)

def launch(grad):
    LIBRARY.scale(grad.data_ptr())  # expect: DYN405

def backward(ctx, grad):
    launch(grad)
    return grad * 2

scale.register_autograd(backward)

class Model(Net):
    def forward(self, x):
        return scale(self.proj(x))

train(torch.compile(Model()))
# %% a function in the graph as it is takes an address
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * (2 + grad.data_ptr() % 2)  # expect: DYN405

@torch.compiler.allow_in_graph
def scale(x):
    return Scale.apply(x)

class Model(Net):
    def forward(self, x):
        return scale(self.proj(x))

train(torch.compile(Model()))
# %% a fake that reads values
@torch.library.custom_op("lib::select", mutates_args=())
def select(x: torch.Tensor, limit: int) -> torch.Tensor:
    return x[x > limit]

@select.register_fake
def _(x, limit):
    if x.sum() > limit:  # expect: DYN526
        return x.new_empty(0)
    return x.new_empty(int((x > limit).sum()))  # expect: DYN526

@torch.compile
def step(x):
    return select(x, 3)
# %% changes that are not declared
@torch.library.custom_op("lib::clear", mutates_args=())
def clear(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.zero_()  # expect: DYN526
    y[0] = 1  # expect: DYN526
    return x.clone()

@clear.register_fake
def _(x, y):
    return torch.empty_like(x)

@torch.compile
def step(x):
    return clear(x, x * 2)
# %% what it is given comes back
@torch.library.custom_op("lib::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    if x.ndim > 3:
        return x.view(-1)  # expect: DYN526
    return x  # expect: DYN526

@same.register_fake
def _(x):
    return torch.empty_like(x)

@torch.compile
def step(x):
    return same(x)
# %% quiet: a whole wrapper, both ways an operator
@torch.library.custom_op("lib::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    ctypes.memset(out.data_ptr(), 0, 0)
    return out

@scale.register_fake
def _(x):
    return torch.empty_like(x)

@torch.library.custom_op("lib::scale_backward", mutates_args=())
def scale_backward(grad: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(grad)
    ctypes.memset(out.data_ptr(), 0, 0)
    return out

@scale_backward.register_fake
def _(grad):
    return torch.empty_like(grad)

def setup(ctx, inputs, output):
    ctx.shape = inputs[0].shape

def backward(ctx, grad):
    return scale_backward(grad)

torch.library.register_autograd("lib::scale", backward, setup_context=setup)

class Model(Net):
    def forward(self, x):
        return scale(self.proj(x))

train(torch.compile(Model()))
# %% quiet: nothing is trained
@torch.library.custom_op("lib::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@scale.register_fake
def _(x):
    return torch.empty_like(x)

class Model(Net):
    def forward(self, x):
        return scale(self.proj(x))

def serve(model):
    return torch.compile(model)(torch.ones(2, 4))
# %% quiet: the gradient does not come through it
@torch.library.custom_op("lib::count", mutates_args=())
def count(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@count.register_fake
def _(x):
    return torch.empty_like(x)

class Model(Net):
    def forward(self, x):
        x = self.proj(x)
        count(x.detach())
        with torch.no_grad():
            count(x.argmax(-1))
        return x

train(torch.compile(Model()))
# %% quiet: declared changes
@torch.library.custom_op("lib::clear", mutates_args=("x",))
def clear(x: torch.Tensor) -> None:
    x.zero_()
    y = x.clone()
    y.add_(1)

@clear.register_fake
def _(x):
    return None

@torch.compile
def step(x):
    clear(x)
    return x * 2
# %% quiet: a fake of sizes
@torch.library.custom_op("lib::select", mutates_args=())
def select(x: torch.Tensor, limit: int, mask: torch.Tensor | None = None) -> torch.Tensor:
    return x[x > limit]

@select.register_fake
def _(x, limit, mask=None):
    if limit > 3 or mask is not None or x.dim() > int(x.shape[0]):
        return x.new_empty(x.size(0))
    return x.new_empty(torch.library.get_ctx().new_dynamic_size())

@torch.compile
def step(x):
    return select(x, 3)
# %% quiet: a fake that asks for numbers of a schema
torch.library.define("lib::pad", "(Tensor x, int count, *, bool front=False) -> Tensor")

@torch.library.register_fake("lib::pad")
def _(x, count, *, front=False):
    if count > 3 or front:
        return x.new_empty(x.shape[0] + int(count))
    return torch.empty_like(x)

@torch.compile
def step(x):
    return torch.ops.lib.pad(x, 3)
# %% a fake that asks for a tensor of a schema
torch.library.define("lib::pad", "(Tensor x, Tensor count) -> Tensor")

@torch.library.register_fake("lib::pad")
def _(x, count):
    return x.new_empty(int(count))  # expect: DYN526

@torch.compile
def step(x):
    return torch.ops.lib.pad(x, x.sum())
# %% quiet: a schema that says what it changes, and a composite kernel
torch.library.define("lib::clear", "(Tensor(a!) x) -> ()")

@torch.library.impl("lib::clear", "CompositeImplicitAutograd")
def clear(x):
    x.zero_()

class Model(Net):
    def forward(self, x):
        x = self.proj(x)
        torch.ops.lib.clear(x)
        return x

train(torch.compile(Model()))
# %% quiet: only eager code calls it
@torch.library.custom_op("lib::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x

@scale.register_fake
def _(x):
    return torch.empty_like(x)

class Model(Net):
    def forward(self, x):
        return self.proj(x)

train(torch.compile(Model()))
scale(torch.ones(2))
# %% quiet: what is launched behind an operator
@torch.library.custom_op("lib::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@scale.register_fake
def _(x):
    return torch.empty_like(x)

@torch.library.custom_op("lib::back", mutates_args=())
def back(grad: torch.Tensor) -> torch.Tensor:
    return grad * (1 + grad.data_ptr() % 2)

@back.register_fake
def _(grad):
    return torch.empty_like(grad)

def backward(ctx, grad):
    return torch.ops.lib.back(grad)

scale.register_autograd(backward)

class Model(Net):
    def forward(self, x):
        return scale(self.proj(x))

train(torch.compile(Model()))
