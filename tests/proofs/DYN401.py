"""One program per row of the cost table of DYN401; a probe's docstring is the label of its row."""

import logging
import os
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)
X = torch.randn(4, 8)
QKV = torch.randn(2, 4, 8)


class Block(nn.Module):
    """A feed-forward block."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)


class Printed(Block):
    """Prints the shape of the hidden state."""

    def forward(self, x):
        hidden = self.up(x).relu()
        print("hidden", hidden.shape)  # expect: DYN401 break
        return self.down(hidden)


def probe_printed():
    """`print` of a shape between two layers"""
    return torch.compile(Printed()), [(X,)]


class Logged(Block):
    """Logs, although the level is off."""

    def forward(self, x):
        hidden = self.up(x).relu()
        logger.debug("hidden state of %d tokens", x.shape[0])  # expect: DYN401 break
        return self.down(hidden)


def probe_logged():
    """`logger.debug` between two layers, with the level off"""
    return torch.compile(Logged()), [(X,)]


class Timed(nn.Module):
    """Takes the time of its attention."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.out = nn.Linear(dim, dim)

    def forward(self, q, k, v):
        start = time.perf_counter()  # expect: DYN401 break
        mixed = self.out(F.scaled_dot_product_attention(q * 0.5, k, v))
        seconds = time.perf_counter() - start  # expect: DYN401 break
        return mixed, seconds > 0


def probe_timed():
    """`time.perf_counter` before an attention and at the end"""
    return torch.compile(Timed()), [(QKV, QKV, QKV)]


class LayerDrop(Block):
    """Skips itself now and then."""

    def forward(self, x):
        x = x * 2
        if random.random() < 0.5:  # expect: DYN401 break
            return x
        return x + self.down(self.up(x).relu())


def probe_layer_drop():
    """`random.random` that skips a layer"""
    return torch.compile(LayerDrop()), [(X,)]


class Noise(Block):
    """Adds noise of NumPy's generator."""

    def forward(self, x):
        hidden = self.up(x).relu()
        level = np.random.uniform()  # expect: DYN401 break
        return self.down(hidden + level)


def probe_noise():
    """a number from `np.random.uniform`, added to the hidden state"""
    return torch.compile(Noise()), [(X,)]


class FileSwitch(Block):
    """A file switches something on while it trains."""

    def forward(self, x):
        hidden = self.up(x).relu()
        if os.path.exists("/no/such/switch"):  # expect: DYN401 break
            hidden = hidden * 2
        return self.down(hidden)


def probe_file_switch():
    """`os.path.exists` that asks for a switch"""
    return torch.compile(FileSwitch()), [(X,)]


class Rounds(nn.Module):
    """Refines its input and reports each round."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim))

    def forward(self, x):
        for number in range(3):
            x = torch.tanh(x @ self.weight)
            print("round", number)  # expect: DYN401 eager
        return x


def probe_rounds():
    """`print` in a loop"""
    return torch.compile(Rounds()), [(X,)]


class EagerOnly(Block):
    """Prints only where nothing is compiled."""

    def forward(self, x):
        hidden = self.up(x).relu()
        if not torch.compiler.is_compiling():
            print("hidden", hidden.shape)
        return self.down(hidden)


def probe_eager_only():
    """`print` under `if not torch.compiler.is_compiling()`"""
    return torch.compile(EagerOnly()), [(X,)]


class Drawn(Block):
    """Shifts its input by a die."""

    def forward(self, x):
        shift = random.randint(1, 6)
        return self.down(self.up(x + shift).relu())


def probe_drawn():
    """a number from `random.randint`, added to the input"""
    return torch.compile(Drawn()), [(X,)]


class Refined(nn.Module):
    """Refines its input as often as a coin says."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        rounds = random.choice(range(1, 40))  # expect: DYN401 storm
        for _ in range(rounds):
            x = self.layer(x).tanh()
        return x


def probe_refined():
    """`random.choice(range(1, 40))` as the number of rounds of a loop"""
    random.seed(0)
    return torch.compile(Refined()), [(torch.randn(4, 8),)]
