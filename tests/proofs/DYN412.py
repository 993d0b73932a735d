"""One program per row of the cost table of DYN412; a probe's docstring is the label of its row."""

import torch
import torch.nn.functional as F
from torch import nn

X = torch.randn(4, 8)
TARGET = torch.randn(4, 1)


class Critic(nn.Module):
    """Scores its input."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 8)
        self.score = nn.Linear(8, 1)

    def scores(self, x):
        return self.score(self.hidden(x).tanh())


class TrainStep(Critic):
    """Computes the loss and runs the backward pass."""

    def forward(self, x, target):
        loss = (self.scores(x) - target).square().mean()
        loss.backward()  # expect: DYN412 break
        return loss.detach()


def probe_backward():
    """`loss.backward()` at the end of `forward`"""
    return torch.compile(TrainStep()), [(X, TARGET)]


class Penalty(Critic):
    """Penalises the gradient of the scores by a weight."""

    def forward(self, x, target):
        loss = (self.scores(x) - target).square().mean()
        (grad,) = torch.autograd.grad(loss, self.score.weight, create_graph=True)  # expect: DYN412 break
        return loss + 10.0 * grad.square().sum()


def probe_grad():
    """`torch.autograd.grad(loss, weight, create_graph=True)` in a loss"""
    return torch.compile(Penalty()), [(X, TARGET)]


class PenaltyInHelper(Critic):
    """The same, with the penalty in a method of its own."""

    def penalty(self, loss):
        (grad,) = torch.autograd.grad(loss, self.score.weight, create_graph=True)  # expect: DYN412 break
        return grad.square().sum()

    def forward(self, x, target):
        loss = (self.scores(x) - target).square().mean()
        return loss + 10.0 * self.penalty(loss)


def probe_helper():
    """the same in a helper that `forward` calls"""
    return torch.compile(PenaltyInHelper()), [(X, TARGET)]


class InnerSteps(Critic):
    """Takes a few gradient steps on a copy of a weight, as meta-learning does."""

    def forward(self, x, target):
        weight = self.score.weight
        for _ in range(2):
            loss = (F.linear(x, weight) - target).square().mean()
            (grad,) = torch.autograd.grad(loss, weight, create_graph=True)  # expect: DYN412 eager
            weight = weight - 0.1 * grad
        return F.linear(x, weight)


def probe_loop():
    """`torch.autograd.grad` in a loop"""
    return torch.compile(InnerSteps()), [(X, TARGET)]


class Recorded(Critic):
    """Records what a layer gives by a hook that is there for one call."""

    def forward(self, x):
        seen = []

        def record(module, args, out):
            seen.append(out)

        handle = self.hidden.register_forward_hook(record)  # expect: DYN412 break
        scores = self.scores(x)
        handle.remove()
        return scores, seen[0].mean()


def probe_hook():
    """`self.hidden.register_forward_hook(...)` in `forward`"""
    return torch.compile(Recorded()), [(X,)]


class LossOnly(Critic):
    """Computes the loss; the caller runs the backward pass."""

    def forward(self, x, target):
        return (self.scores(x) - target).square().mean()


def probe_after():
    """`loss.backward()` in the caller"""
    model = LossOnly()
    run = torch.compile(model)

    def step(x, target):
        loss = run(x, target)
        loss.backward()
        model.zero_grad(set_to_none=False)
        return loss.detach()

    return step, [(X, TARGET)]


class FunctionalPenalty(Critic):
    """Penalises the gradient of the scores by the input, by the functional interface."""

    def forward(self, x):
        grad = torch.func.grad(lambda one: self.scores(one).sum())(x)
        return self.scores(x).mean() + 10.0 * (grad.norm(dim=-1) - 1).square().mean()


def probe_functional():
    """`torch.func.grad` in `forward`"""
    return torch.compile(FunctionalPenalty()), [(X,)]


class Clipped(Critic):
    """Clips the gradient of a hidden state by a hook on the tensor."""

    def forward(self, x):
        hidden = self.hidden(x).tanh()
        hidden.register_hook(lambda grad: grad.clamp(-1, 1))
        return self.score(hidden)


def probe_tensor_hook():
    """`hidden.register_hook(...)` on a tensor"""
    return torch.compile(Clipped()), [(X,)]


class Switched(Critic):
    """Turns gradients off and on again."""

    def forward(self, x):
        with torch.no_grad():
            scale = self.scores(x).abs().mean()
        with torch.enable_grad():
            return self.scores(x.detach()) / scale


def probe_modes():
    """`torch.no_grad()`, `torch.enable_grad()` and `detach()`"""
    return torch.compile(Switched()), [(X,)]


class Watched(nn.Module):
    """A layer of it is watched on the way back."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 8)
        self.score = nn.Linear(8, 1)
        self.hidden.register_full_backward_hook(lambda module, into, outof: None)

    def forward(self, x):
        x = self.hidden(x * 2)  # expect: DYN412 break
        return self.score(x.relu())


def probe_backward_hook():
    """a layer with a full backward hook that `__init__` put on it"""
    return torch.compile(Watched()), [(X,)]
