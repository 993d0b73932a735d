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

# %% a factory gives each call what the member of an enumeration asks for, and what comes after a return is for the others
import enum
class Kind(enum.Enum):
    NORM = enum.auto()
    ATTENTION = enum.auto()
    OTHER = enum.auto()
class Norm(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Attention(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x

def make(kind):
    if kind == Kind.NORM:
        return Norm
    if kind is Kind.ATTENTION:
        return Attention
    return Other
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = make(Kind.NORM)()
    def forward(self, x): return self.norm(x)  # compiled: certain
net, rest = Net(), [make(Kind.ATTENTION)(), make(Kind.OTHER)()]
fast = torch.compile(net)

# %% what the caller's own parameter is decides where it is passed on
class Encoder(nn.Module):
    def forward(self, x): return x  # compiled: certain
class Decoder(nn.Module):
    def forward(self, x): return x

def pick(kind):
    if kind == 'encoder':
        return Encoder()
    else:
        return Decoder()
def make(kind, depth=1):
    if kind == 'nothing':
        return None
    return pick(kind)
other = make('decoder')
fast = torch.compile(make('encoder'))

# %% a parameter that is bound anew is not what the call wrote
class Encoder(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Decoder(nn.Module):
    def forward(self, x): return x  # compiled: likely

def make(kind):
    kind = kind if torch.cuda.is_available() else 'decoder'
    if kind == 'encoder':
        return Encoder()
    return Decoder()
fast = torch.compile(make('encoder'))

# %% a branch that only sometimes returns leaves the rest to run
class Encoder(nn.Module):
    def forward(self, x): return x  # compiled: likely
class Decoder(nn.Module):
    def forward(self, x): return x  # compiled: likely

def make(kind, size):
    if kind == 'encoder' and size > 1:
        return Encoder()
    return Decoder()
other = make('decoder', 3)
fast = torch.compile(make('encoder', len(fast_parts)))
