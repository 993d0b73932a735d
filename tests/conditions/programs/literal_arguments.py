"""Conditions on texts and flags that calls write out: only what they ask for is made."""

import torch
from torch import nn

# %% a function that a platform picks is likely
def plain(x): return x  # compiled: likely
def other(x): return x  # compiled: likely
def pick():
    if on_npu():
        return other
    return plain
act = pick()
@torch.compile
def step(x): return act(x)  # compiled: certain

# %% a function that is given on every platform is certain
def plain(x): return x
def other(x): return x  # compiled: certain
def pick():
    if on_npu():
        return other
    return other
act = pick()
@torch.compile
def step(x): return act(x)  # compiled: certain

# %% what no call asks for by a flag is still a guess
# options: guesses=True
class Encoder(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Decoder(nn.Module):
    def forward(self, x): return x  # compiled: possible
class Whole(nn.Module):
    def forward(self, x): return x  # compiled: possible

def make(name, encoder_only=False, decoder_only=False, **options):
    if encoder_only:
        cls = Encoder
    elif decoder_only:
        cls = Decoder
    else:
        cls = Whole
    return cls(**options)
net = make('t5', True)
fast = torch.compile(net)

# %% the flag that a file passes when it is run is one use among others
class Encoder(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Decoder(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Whole(nn.Module):
    def forward(self, x): return x  # compiled: likely

def make(name, encoder_only=False, decoder_only=False, **options):
    if encoder_only:
        cls = Encoder
    elif decoder_only:
        cls = Decoder
    else:
        cls = Whole
    return cls(**options)
net = None
if __name__ == '__main__':
    net = make('t5', encoder_only=True)

fast = torch.compile(net)
