import torch
from torch import nn


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("load", torch.zeros(2))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))
        self.prepare()

    def prepare(self):
        pass
# %% added in place
class Net(Router):
    def forward(self, x):
        probs = self.router(x).softmax(-1)
        self.load.add_(probs.mean(0))  # expect: DYN524
        return probs

net = torch.compile(Net())
# %% in other ways
class Net(Router):
    def forward(self, x):
        probs = torch.softmax(self.router(x), -1) * self.scale
        self.load += probs.mean(0)  # expect: DYN524
        self.load[0] = probs.mean()  # expect: DYN524
        self.load.mul_(0.9).add_(probs.mean(0), alpha=0.1)  # expect: DYN524
        self.load.copy_(probs.mean(0))  # expect: DYN524
        return probs

net = torch.compile(Net())
# %% by a method, and by a block
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.load = nn.Buffer(torch.zeros(4))

    def note(self, x):
        hidden = self.block(x)
        if hidden.ndim > 1:
            self.load.lerp_(hidden.mean(0), 0.1)  # expect: DYN524
        return hidden

    def forward(self, x):
        return self.note(x)

net = torch.compile(Net())
# %% quiet: without gradients, by a block
class Net(Router):
    def forward(self, x):
        probs = self.router(x).softmax(-1)
        with torch.no_grad():
            self.load.add_(probs.mean(0))
        with torch.set_grad_enabled(False):
            self.load += probs.mean(0)
        return probs

net = torch.compile(Net())
# %% quiet: without gradients, by a decorator and around the call
class Net(Router):
    @torch.no_grad()
    def note(self, x):
        self.load.add_(self.router(x).mean(0))

    def again(self, x):
        self.load.add_(self.router(x).mean(0))

    def forward(self, x):
        self.note(x)
        with torch.no_grad():
            self.again(x)
        return self.router(x)

net = torch.compile(Net())
# %% quiet: detached
class Net(Router):
    def forward(self, x):
        probs = self.router(x).softmax(-1)
        self.load.add_(probs.detach().mean(0))
        self.load.add_(probs.data.mean(0))
        free = probs.mean(0).detach()
        self.load.copy_(free * 0.5)
        return probs

net = torch.compile(Net())
# %% quiet: detached behind it
class Net(Router):
    def forward(self, x):
        probs = self.router(x).softmax(-1)
        self.load.add_(probs.mean(0))
        self.load.detach_()
        return probs

net = torch.compile(Net())
# %% quiet: numbers of which there is no derivative
class Net(Router):
    def forward(self, x):
        logits = self.router(x)
        self.seen.add_(logits.argmax(-1).sum())
        self.load.add_((logits > 0).float().mean(0))
        self.load.add_(logits.topk(1).indices.float().mean())
        self.seen += 1
        values, chosen = torch.topk(logits, 1)
        self.seen.add_(chosen.sum())
        self.seen.add_(logits.max(-1)[1].sum())
        return logits

net = torch.compile(Net())
# %% quiet: of the input
class Net(Router):
    def forward(self, x):
        self.load.add_(x[0, :2])
        return self.router(x)

net = torch.compile(Net())
# %% quiet: past autograd, and something else than a buffer
class Net(Router):
    def prepare(self):
        self.last = None

    def forward(self, x):
        probs = self.router(x)
        self.load.data.add_(probs.mean(0))
        total = torch.zeros(2)
        total.add_(probs.mean(0))
        return total

net = torch.compile(Net())
# %% quiet: not compiled
class Net(Router):
    def forward(self, x):
        self.load.add_(self.router(x).mean(0))
        return x

net = Net()
