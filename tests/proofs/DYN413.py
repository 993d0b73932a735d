"""One program per row of the cost table of DYN413; a probe's docstring is the label of its row."""

import contextlib
import threading

import torch
import torch.nn.functional as F
from torch import nn

X = torch.randn(4, 8)
LOCK = threading.Lock()


class Block(nn.Module):
    """A residual layer, of which subclasses run a part under a manager."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)


class Locked(Block):
    """Several threads serve the model, and one of them at a time is to run the layer."""

    def forward(self, x):
        with LOCK:  # expect: DYN413 eager
            h = self.proj(self.norm(x))
        return x + h.relu()


def probe_lock():
    """a lock: `with LOCK:`"""
    return torch.compile(Locked()), [(X,)]


class LockedMethod(Block):
    """The lock is taken in a method."""

    def forward(self, x):
        return x + self.projected(self.norm(x)) * 2

    def projected(self, h):
        with LOCK:  # expect: DYN413 break
            return self.proj(h).relu()


def probe_locked_method():
    """the same lock in a method that `forward` calls"""
    return torch.compile(LockedMethod()), [(X,)]


class DefaultDevice(Block):
    """The mask is made on the device of the input."""

    def forward(self, x):
        with torch.device(x.device):  # expect: DYN413 eager
            mask = torch.ones(4, 4).tril()
        return x + mask @ self.proj(self.norm(x))


def probe_default_device():
    """a default device: `with torch.device(x.device):`"""
    return torch.compile(DefaultDevice()), [(X,)]


class Anomaly(Block):
    """Left over from the search for a NaN."""

    def forward(self, x):
        h = self.norm(x)
        with torch.autograd.set_detect_anomaly(True):  # expect: DYN413 break
            h = self.proj(h)
        return x + h.relu()


def probe_anomaly():
    """`with torch.autograd.set_detect_anomaly(True):`"""
    return torch.compile(Anomaly()), [(X,)]


class Offloaded(Block):
    """What the backward pass needs waits in the memory of the CPU."""

    def forward(self, x):
        h = self.norm(x)
        with torch.autograd.graph.save_on_cpu():  # expect: DYN413 break
            h = self.proj(h).relu()
        return x + h


def probe_offloaded():
    """`with torch.autograd.graph.save_on_cpu():`"""
    return torch.compile(Offloaded()), [(X,)]


class Span(contextlib.ContextDecorator):
    """Names a part of the model for a profiler."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


@Span()
def activated(x):
    return F.gelu(x)


class Decorated(Block):
    """Calls a function that enters a manager around its body."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        return x + activated(h) * 2  # expect: DYN413 break


def probe_decorated():
    """a function that a `ContextDecorator` of the project decorates"""
    return torch.compile(Decorated()), [(X,)]


class Spanned(Block):
    """Enters the same manager with `with`."""

    def forward(self, x):
        h = self.norm(x)
        with Span():
            h = self.proj(h)
        return x + h


def probe_spanned():
    """the same class, entered with `with`"""
    return torch.compile(Spanned()), [(X,)]


class Known(Block):
    """Managers that Dynamo knows."""

    def forward(self, x):
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            h = self.norm(x)
        with torch.profiler.record_function("proj"):
            h = self.proj(h)
        return x + h


def probe_known():
    """`torch.no_grad`, `torch.autocast` and `record_function`"""
    return torch.compile(Known()), [(X,)]


class NamedDevice(Block):
    """The device stands in the call that makes the mask."""

    def forward(self, x):
        mask = torch.ones(4, 4, device=x.device).tril()
        return x + mask @ self.proj(self.norm(x))


def probe_named_device():
    """`torch.ones(4, 4, device=x.device)` without a manager"""
    return torch.compile(NamedDevice()), [(X,)]
