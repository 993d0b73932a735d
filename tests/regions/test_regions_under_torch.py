"""What Dynamo itself translates, for idioms where the answer is not obvious: the regions say the same."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from tests.programs import ASKING_WRAPPER, hot
from tests.translated import NAMED, OURS, Translated

MODULE = """
class Odd(nn.Module):
    def __call__(self, x): return super().__call__(other(x))
    def forward(self, x): return helper(x)
"""
MODES = """
class M(nn.Module):
    def forward(self, x):
        if self.training:
            return helper(x)
        return other(x)
net = torch.compile(M(), backend="eager")
"""
FLEX = """
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
def mask_mod(b, h, q, k): return helper(q) >= k
def score_mod(score, b, h, q, k): return helper(score)
def hot_flex(q): return flex_attention(q, q, q, score_mod=score_mod)
"""
LIBRARY = """
import types
class Head(nn.Module):
    def forward(self, x): return helper(x)
class Head2(nn.Module):
    def forward(self, x): return other(x)
layer = nn.TransformerEncoderLayer(8, 1, dim_feedforward=8)
"""
KEPT_OUT = """
exporting = False
def in_export(): return exporting
def keep_out(recursive=True, when=None):
    def made(fn): return torch._dynamo.disable(fn, recursive=recursive)
    def decorate(fn):
        disabled = made(fn)
        if when is None:
            def kept(*given):
                if in_export(): return fn(*given)
                return disabled(*given)
        else:
            def kept(*given):
                if when(*given) is None: return fn(*given)
                return disabled(*given)
        return kept
    return decorate
def keep_out_large(fn):
    disabled = torch._dynamo.disable(fn)
    def asked(x):
        if x.ndim < 2: return fn(x)
        return disabled(x)
    return asked
"""
HANDING = """
class Handed(nn.Module):
    def forward(self, x): return other(x)
class Block(nn.Module):
    def forward(self, x, given=None):
        if given is not None: x = x + given(x)
        return helper(x)
"""
APPLYING = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return helper(x)
    @staticmethod
    def backward(ctx, g): return other(g)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
    def forward(self, x): return Twice.apply(self.linear(x))
net = Net()
"""
SWITCH = """
probing = False
def turn_on():
    global probing
    probing = True
@torch.compile
def step(x):
    if probing: x = helper(x)
    return x + 1
"""
PROGRAMS = {
    "a forward that is replaced by what calls it compiled": """
class Net(nn.Module):
    def forward(self, x): return helper(x)
def patch(net):
    fast = torch.compile(net.forward)
    def routed(x): return fast(other(x))
    net.forward = routed
    return net
net = patch(Net())
def main(x): net(x)
""",
    "a model that is compiled whole before its forward is replaced": """
class Net(nn.Module):
    def forward(self, x): return helper(x)
def patch(net):
    fast, plain = torch.compile(net), net.forward
    def routed(x): return plain(other(x))
    net.forward = routed
    return fast
net = patch(Net())
def main(x): net(x)
""",
    "a backward where gradients are on": APPLYING + "fast = torch.compile(net)\ndef main(x): fast(x)\n",
    "a backward below a function that turns gradients off": APPLYING
    + "@torch.compile\n@torch.no_grad()\ndef step(x): return net(x)\ndef main(x): step(x)\n",
    "a backward below a compiled function that runs in inference mode": APPLYING
    + "@torch.inference_mode()\n@torch.compile\ndef step(x): return net(x)\ndef main(x): step(x)\n",
    "a backward of what is compiled with and without gradients": APPLYING
    + "@torch.compile\n@torch.no_grad()\ndef step(x): return net(x)\n"
    + "fast = torch.compile(net)\ndef main(x): step(x), fast(x)\n",
    "a backward where gradients are turned on again": APPLYING
    + "@torch.compile\n@torch.no_grad()\ndef step(x):\n    with torch.enable_grad(): return net(x)\n"
    + "def main(x): step(x)\n",
    "a backward below a function that keeps gradients on": APPLYING
    + "@torch.compile\n@torch.inference_mode(False)\ndef step(x): return net(x)\ndef main(x): step(x)\n",
    "a flag that the only caller of a factory writes out": """
class Encoder(nn.Module):
    def forward(self, x): return helper(x)
class Decoder(nn.Module):
    def forward(self, x): return other(x)
def make(encoder_only=False, **options):
    if encoder_only:
        cls = Encoder
        options.pop("layers")
    else:
        cls = Decoder
    return cls(**options)
def build(**more):
    options = dict(layers=4)
    options.update(**more)
    return make(**options)
fast = torch.compile(build(encoder_only=True))
def main(x): fast(x)
""",
    "a flag that one caller of a factory writes out otherwise": """
class Encoder(nn.Module):
    def forward(self, x): return helper(x)
class Decoder(nn.Module):
    def forward(self, x): return other(x)
def make(encoder_only=False):
    if encoder_only: return Encoder()
    return Decoder()
def build(**more): return make(**more)
fast = torch.compile(nn.Sequential(build(encoder_only=True), build(encoder_only=False)))
def main(x): fast(x)
""",
    "a flag that every construction passes alike": """
class Attention(nn.Module):
    def __init__(self, fast):
        super().__init__()
        self.fast = fast
    def forward(self, x):
        if not self.fast: return helper(x)
        return other(x)
class Block(nn.Module):
    def __init__(self, fast=False):
        super().__init__()
        self.attention = Attention(fast=fast)
    def forward(self, x):
        return self.attention(x)
fast = torch.compile(nn.Sequential(Block(fast=True), Block(fast=True)))
def main(x): fast(x)
""",
    "overridden __call__": MODULE + "fast = torch.compile(Odd())\ndef main(x): fast(x)\n",
    "overridden __call__, compiled in place": MODULE
    + "odd = Odd()\nodd.compile(backend='eager')\ndef main(x): odd(x)\n",
    "class of an autograd function": """
@torch.compile
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return helper(x)
    @staticmethod
    def backward(ctx, g): return g
def main(x): F.apply(x)
""",
    "setup_context": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(x): return helper(x)
    @staticmethod
    def setup_context(ctx, inputs, output): other(1)
    @staticmethod
    def backward(ctx, g): return g
@torch.compile
def run(x): return F.apply(x)
def main(x): run(x.requires_grad_())
""",
    "nested_compile_region alone": """
@torch.compiler.nested_compile_region
def inner(x): return helper(x)
def main(x): inner(x)
""",
    "nested_compile_region in a region": """
@torch.compiler.nested_compile_region
def inner(x): return helper(x)
@torch.compile
def run(x): return inner(x) + inner(x)
def main(x): run(x)
""",
    "a mask function of a compiled create_block_mask": FLEX
    + "make = torch.compile(create_block_mask)\ndef main(x): make(mask_mod, 1, 1, 8, 8, device='cpu')\n",
    "a mask function of an eager create_block_mask": FLEX
    + "def main(x): create_block_mask(mask_mod, 1, 1, 8, 8, device='cpu')\n",
    "a score function of a compiled flex_attention": FLEX
    + "flex = torch.compile(flex_attention)\n"
    + "def main(x): flex(*[torch.randn(1, 1, 16, 16)] * 3, score_mod=score_mod)\n",
    "a hook of a module that is compiled": """
class M(nn.Module):
    def forward(self, x): return helper(x)
def hook(module, inputs, output): return other(output)
model = M()
model.register_forward_hook(hook)
fast = torch.compile(model)
def main(x): fast(x)
""",
    "a hook of what torch.compile gives back": """
class M(nn.Module):
    def forward(self, x): return helper(x)
def hook(module, inputs, output): return other(output)
fast = M()
fast = torch.compile(fast)
fast.register_forward_hook(hook)
def main(x): fast(x)
""",
    "a function put in the place of a forward": """
import types
class M(nn.Module):
    def mix(self, x): return helper(x)
def forward(self, x): return self.mix(x)
model = M()
model.forward = types.MethodType(forward, model)
fast = torch.compile(model)
def main(x): fast(x)
""",
    "modules on a bare module, one by one and in a list": """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.mid = nn.Module()
        self.mid.blocks = nn.ModuleList()
        self.mid.blocks.append(Block())
    def forward(self, x): return other(self.mid.blocks[0](x))
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a partial of a function that is given a module": """
import functools
class M(nn.Module):
    def forward(self, x): return helper(x)
def step(model, x): return other(model(x))
fast = torch.compile(functools.partial(step, M()))
def main(x): fast(x)
""",
    "an optional function that eager code binds beforehand": """
import functools
def loss(x, fn=None):
    if fn is not None: x = fn(x)
    return x.sum()
def main(x):
    bound = functools.partial(loss, fn=helper)
    def step(x): return torch.func.grad_and_value(bound)(x)
    torch.compile(step)(x.clone())
    return loss(x, other)
""",
    "loops, items and lengths of a plain class": """
class Pair:
    def __init__(self, a, b): self.parts = [a, b]
    def __getitem__(self, index): return helper(self.parts[index])
    def __len__(self): return 2
    def __contains__(self, part): return False
class Walk:
    def __init__(self, a): self.left = [a, a]
    def __iter__(self): return self
    def __next__(self):
        if not self.left:
            raise StopIteration
        return other(self.left.pop())
@torch.compile
def run(x):
    pair = Pair(x, x)
    first = pair[0]
    for part in Walk(x):
        first = first + part
    return first * len(pair)
def main(x): run(x)
""",
    "a hook of a module whose forward is compiled": """
class M(nn.Module):
    def forward(self, x): return helper(x)
def hook(module, inputs, output): return other(output)
model = M()
model.register_forward_hook(hook)
model.forward = torch.compile(model.forward)
def main(x): model(x)
""",
    "a disabled function called in place": """
@torch.compile
def run(x): return torch.compiler.disable(helper)(x) + 1
def main(x): run(x)
""",
    "modules whose forward is disabled": """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return other(x)
model = M()
for block in model.blocks:
    block.forward = torch.compiler.disable(block.forward)
fast = torch.compile(model)
def main(x): fast(x)
""",
    "a forward that is put in place and undone": """
class M(nn.Module):
    def forward(self, x): return helper(x)
def exported(model, x):
    def flat(x): return other(x)
    original = model.forward
    model.forward = flat
    try:
        model(x)
    finally:
        model.forward = original
model = M()
exported(model, torch.ones(2))
fast = torch.compile(model)
def main(x): fast(x)
""",
    "blocks that an attribute keeps out": """
class Experts(nn.Module):
    def forward(self, x): return other(x)
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.sparse = n % 2 == 0
        if self.sparse: self.experts = Experts()
    def forward(self, x):
        if self.sparse: x = self.experts(x)
        else: x = helper(x)
        return x
blocks = nn.ModuleList([Block(n) for n in range(4)])
for n, block in enumerate(blocks):
    if getattr(block, "sparse", False): continue
    blocks[n] = torch.compile(block)
def main(x):
    for block in blocks: x = block(x)
""",
    "what a wrapper keeps of one function": """
class Op:
    def __init__(self, fn): self.fn = fn
    @property
    def real(self): return self.fn
def register(fn): return Op(fn).real
mine = register(helper)
yours = register(other)
@torch.compile
def run(x): return mine(x)
def main(x): run(x)
""",
    "modules that the conditions of their class name": """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Last(nn.Module):
    def forward(self, x): return other(x)
class M(nn.Module):
    conditions = [lambda n, m: "blocks" in n and str.isdigit(n.split(".")[-1])]
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.last = Last()
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return self.last(x)
def apply(model: nn.Module):
    conditions = getattr(model, "conditions", None)
    for name, part in model.named_modules():
        if any(one(name, part) for one in conditions):
            part.forward = torch.compile(part.forward)
    return model
model = apply(M())
def main(x): model(x)
""",
    "a module handed on under another name": """
class Rope(nn.Module):
    def forward(self, x): return helper(x)
class Unused(nn.Module):
    def forward(self, x): return other(x)
class Attention(nn.Module):
    def forward(self, x, rope=None, bias=None):
        return x if rope is None else rope(x)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
    def forward(self, x, turn=None, more=None): return self.attention(x, rope=turn, bias=None)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.rope, self.unused = Block(), Rope(), Unused()
    def forward(self, x): return self.block(x, self.rope, more=self.unused)
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a module for each heir of one class, by its own method": """
class Package:
    def make(self): raise NotImplementedError
"""
    + "".join(
        f"class M{i}(nn.Module):\n    def forward(self, x): return helper(x)\n"
        f"class P{i}(Package):\n    def make(self): return M{i}()\n"
        for i in range(10)
    )
    + """
class Task(nn.Module):
    def __init__(self, package):
        super().__init__()
        self.backbone = package.make()
    def forward(self, x): return self.backbone(x)
    def report(self, x): return other(x)
"""
    + "".join(f"task{i} = torch.compile(Task(P{i}()))\n" for i in range(10))
    + "def main(x):\n    with torch._dynamo.config.patch(recompile_limit=20):\n        "
    + "; ".join(f"task{i}(x)" for i in range(10))
    + "\n",
    "a wrapper around what is put back compiled": """
def logged(f):
    def outer(*args): return other(f(*args))
    return outer
class M(nn.Module):
    def forward(self, x): return helper(x)
model = M()
model.forward = logged(torch.compile(model.forward))
def main(x): model(x)
""",
    "a closure that compiled code calls where it is made, and eager code with something else": """
def checkpointed(f):
    def run(*args): return f(*args)
    return run
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Eager(nn.Module):
    def forward(self, x): return other(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x): return checkpointed(self.block)(x)
fast, slow = torch.compile(M()), Eager()
def main(x): checkpointed(slow)(fast(x))
""",
    "an attribute that a wrapper passes on": ASKING_WRAPPER
    + """
    def forward(self, x): return self.mix(x)
class Inner(nn.Module):
    def mix(self, x): return helper(x)
fast = torch.compile(Wrapper(Inner()))
def main(x): fast(x)
""",
    "a submodule of a module that has a __getattr__": ASKING_WRAPPER
    + """
    def forward(self, x): return self.module(x)
class Inner(nn.Module):
    def forward(self, x): return helper(x)
fast = torch.compile(Wrapper(Inner()))
def main(x): fast(x)
""",
    "a module handed to each block of a list": HANDING
    + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.handed = Handed()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x):
        for block in self.blocks: x = block(x, self.handed)
        return x
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a module handed on by a block between": HANDING
    + """
class Between(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x, given): return self.block(x, given=given)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.handed = Handed()
        self.between = Between()
    def forward(self, x): return self.between(x, given=self.handed)
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a function handed to a block": HANDING
    + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x): return self.block(x, other)
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a function that eager code hands to a compiled module": HANDING
    + """
fast = torch.compile(Block())
def main(x): fast(x, given=helper), fast(x, other)
""",
    "a function that eager code hands to a module with a compiled one inside": """
class Inner(nn.Module):
    def forward(self, x, change=None): return helper(x if change is None else change(x))
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.inner.compile()
    def forward(self, x, change): return self.inner(x, change=change)
def make():
    def change(x): return other(x)
    return change
def unused(x): return x
outer = Outer()
def main(x): outer(x, change=make()), unused(x)
""",
    "a function that eager code hands to another module of the class": """
def cold(x): return x
class Inner(nn.Module):
    def forward(self, x, change=None): return helper(x if change is None else change(x))
class Hot(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x): return self.inner(x, change=other)
class Cold(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x): return self.inner(x, change=cold)
fast = torch.compile(Hot())
eager = Cold()
def main(x): fast(x), eager(x)
""",
    "mask functions that torch puts together": FLEX
    + """
from torch.nn.attention.flex_attention import and_masks, or_masks
def document(b, h, q, k): return other(q) >= k
def alone(b, h, q, k): return q >= k
create = torch.compile(create_block_mask)
def main(x): create(and_masks(mask_mod, or_masks(document)), 1, 1, 128, 128, device="cpu"), alone(0, 0, x, x)
""",
    "functions that eager and compiled code hand to a helper that maps them": """
def mapped(x, f): return torch.vmap(f)(x)
@torch.compile(backend="eager")
def step(x): return mapped(x, helper)
def main(x):
    mapped(x, other)
    step(x)
""",
    "a name that is bound anew before it is handed on": """
class First(nn.Module):
    def forward(self, x): return helper(x)
class Second(nn.Module):
    def forward(self, x): return other(x)
def compiled(m): return torch.compile(m, backend="eager")
def make():
    part = First()
    part = Second()
    return compiled(part)
def main(x): make()(x)
""",
    "a compiled function that is handed on under another name": """
def step(x, m): return m(x)
class Net(nn.Module):
    def forward(self, x): return helper(x)
fast = torch.compile(step, backend="eager")
def run(fn, m, x): return fn(x, m)
def main(x): run(fast, Net(), x)
""",
    "a conditional expression whose test a default settles": """
def pick(x, mask=None): return helper(x) if mask is not None else other(x)
@torch.compile(backend="eager")
def step(x): return pick(x)
def main(x): step(x)
""",
    "a hook that takes itself off before the module is compiled": """
class M(nn.Module):
    def forward(self, x): return helper(x)
class Once:
    def __init__(self, module): self.handle = module.register_forward_hook(self.hook)
    def hook(self, module, given, result): self.handle.remove()
def main(x):
    model = M()
    once = Once(model)
    model(x)
    torch.compile(model)(x)
""",
    "a hook that stays": """
class M(nn.Module):
    def forward(self, x): return helper(x)
class Each:
    def __init__(self, module): self.handle = module.register_forward_hook(self.hook)
    def hook(self, module, given, result): return other(result)
def main(x):
    model = M()
    each = Each(model)
    model(x)
    torch.compile(model)(x)
""",
    "a lambda that compiles what it decorates": """
fuse = lambda f: torch.compile(f)
keep = lambda f: f
@fuse
def run(x): return helper(x)
@keep
def plain(x): return other(x)
def main(x): run(x), plain(x)
""",
    "a module with a call of a mixin behind it": """
class Says:
    def __call__(self, x): return other(x)
class After(nn.Module, Says):
    def forward(self, x): return helper(x)
class Inside(After):
    pass
fast = torch.compile(Inside())
def main(x): fast(x)
""",
    "a module with a call of a mixin before it": """
class Says:
    def __call__(self, x): return super().__call__(other(x))
class Before(Says, nn.Module):
    def forward(self, x): return helper(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.before = Before()
    def forward(self, x): return self.before(x)
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a decorator of ours that makes a custom operator": """
def operator(name):
    def around(fn):
        made = torch.library.custom_op(name, fn, mutates_args=())
        made.register_fake(lambda x: torch.empty_like(x))
        return made
    return around
def plainly(name):
    def around(fn): return fn
    return around
@operator("quiet::twice")
def twice(x: torch.Tensor) -> torch.Tensor: return helper(x)
@plainly("loud")
def loud(x): return other(x)
@torch.compile
def run(x): return twice(x) + loud(x)
def main(x): run(x)
""",
    "a forward that is put around the compiled one": """
class M(nn.Module):
    def forward(self, x): return helper(x)
def around(f):
    def call(x): return other(f(x))
    return call
def main(x):
    m = M()
    def cloned(f):
        def copy(*given): return f(*given).clone()
        return copy
    m.forward = cloned(torch.compile(m.forward))
    m(x)
""",
    "an heir of a class whose forward only says that there is one": """
class Encoder(nn.Module):
    def forward(self, x): raise NotImplementedError
class Small(Encoder):
    def forward(self, x): return helper(x)
def loss(encoder: Encoder, x): return encoder(x)
small = Small()
fast = torch.compile(loss)
def main(x): fast(small, x)
""",
    "what an object that is called later was made with": """
class Later:
    def __init__(self, made, *given):
        self.made = made
        self.given = given
    def __call__(self): return self.made(*self.given)
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Other(nn.Module):
    def forward(self, x): return other(x)
later, never = Later(Net), Later(Other)
fast = torch.compile(later())
eager = never()
def main(x): fast(x), eager(x)
""",
    "what a comprehension of several lines compiles": """
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Nets(nn.Module):
    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList([Net(), Net()])
    def forward(self, x):
        for net in self.nets: x = net(x)
        return x
def compiled(nets: Nets):
    nets.nets = nn.ModuleList(
        torch.compile(net)
        for net in nets.nets
    )
    return nets
nets = compiled(Nets())
def main(x): nets(x)
""",
    "an attribute that is compiled unless it is of a class": """
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList([Net()])
    def forward(self, x): return other(self.nets[0](x))
class Model:
    def __init__(self, net): self.net = net
    def fuse(self):
        if isinstance(self.net, Mixture):
            for number, net in enumerate(self.net.nets): self.net.nets[number] = torch.compile(net)
        else:
            self.net = torch.compile(self.net)
models = [Model(Net()), Model(Mixture())]
def main(x):
    for model in models:
        model.fuse()
        model.net(x)
""",
    "a method out of a table by a text that is kept": """
class Norm(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.ways = {"first": self.first, "second": self.second}
        self.kind = kind if kind in self.ways else "first"
    def first(self, x): return helper(x)
    def second(self, x): return other(x)
    def unused(self, x): return x
    def forward(self, x): return self.ways[self.kind](x)
kinds = ["none", "second"]
fast = [torch.compile(Norm(kind)) for kind in kinds]
def main(x):
    for norm in fast: norm(x)
""",
    "a closure that is kept in an attribute, and compiled there": """
class Kept:
    def __init__(self, compiles):
        def step(x): return helper(x)
        self.step = step
        if compiles: self.step = torch.compile(self.step)
kept = Kept(True)
def main(x): kept.step(x)
""",
    "what each subclass of a configuration calls its target": """
from dataclasses import dataclass, field
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Unused(nn.Module):
    def forward(self, x): return other(x)
@dataclass
class Base:
    target: type
    def setup(self): return self.target(self)
class Trainer:
    def __init__(self, config): self.fast = torch.compile(config.net())
@dataclass
class TrainerConfig(Base):
    target: type = field(default_factory=lambda: Trainer)
    net: type = field(default_factory=lambda: Net)
    unused: type = field(default_factory=lambda: Unused)
trainer = TrainerConfig().setup()
def main(x): trainer.fast(x)
""",
    "a field of a base that nobody makes": """
from dataclasses import dataclass
from typing import Callable
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Unused(nn.Module):
    def forward(self, x): return other(x)
@dataclass
class Base:
    build: Callable
@dataclass
class Config(Base):
    unused: Callable = Unused
def train(config: Base): return torch.compile(config.build())
fast = train(Config(build=lambda: Net()))
def main(x): fast(x)
""",
    "a parameter that only the overridden method annotates": """
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Model(nn.Module):
    pass
class Holding(Model):
    def __init__(self):
        super().__init__()
        self.net, self.cold = Net(), Cold()
class Cold(Model):
    def forward(self, x): return other(x)
class Callback:
    def on_start(self, model: Model): pass
class Compiling(Callback):
    def on_start(self, model): model.net = torch.compile(model.net)
model = Holding()
def start(callbacks):
    for callback in callbacks: callback.on_start(model)
start([Callback(), Compiling()])
def main(x): model.net(x), model.cold(x)
""",
    "a class by the name of a variable": """
class Small(nn.Module):
    def forward(self, x): return helper(x)
class Large(nn.Module):
    def forward(self, x): return other(x)
class Cold(nn.Module):
    def forward(self, x): return x
class Around(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def forward(self, x): return self.net(x)
class Beside(Around):
    pass
def build(few):
    around = Around if few else Beside
    return around(net=Small() if few else Large())
fast = [torch.compile(build(few)) for few in (True, False)]
cold = Cold()
def main(x):
    for one in fast: one(cold(x))
""",
    "a model that is asked for by its name": """
class Net(nn.Module):
    def forward(self, x): return helper(x)
def plain(x): return other(x)
def build(name): return globals()[name]()
fast = torch.compile(build("Net"))
def main(x): plain(fast(x))
""",
    "a module handed to one class and not to its sister": HANDING
    + """
class Sister(nn.Module):
    def forward(self, x, given=None): return helper(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.handed = Handed()
        self.block = Block()
        self.sister = Sister()
    def forward(self, x): return self.sister(self.block(x), self.handed)
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a module handed over by eager code alone": HANDING
    + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.handed = Handed()
        self.block = Block()
    def forward(self, x): return self.block(x)
model = M()
fast = torch.compile(M())
def main(x):
    model.block(x, model.handed)
    fast(x)
""",
    "a function that eager code alone hands to a block which is handed a module": """
def cold(x, given=None): return x
class Handed(nn.Module):
    def forward(self, x): return other(x)
class Block(nn.Module):
    def forward(self, x, given=None, more=None):
        if given is not None: x = given(x)
        if more is not None: x = more(x, given=given)
        return helper(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.handed = Handed()
        self.block = Block()
    def forward(self, x): return self.block(x, self.handed)
model = M()
fast = torch.compile(M())
def eager(x): return model.block.forward(x, more=cold)
def main(x):
    eager(x)
    fast(x)
""",
    "blocks in the columns of several lists": HANDING
    + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.handed = Handed()
        self.layers = nn.ModuleList([nn.ModuleList([nn.Identity(), Block()])])
        self.kinds = ("a",)
    def forward(self, x):
        rows = (self.kinds, self.layers)
        for number, (kind, (norm, block)) in enumerate(zip(*rows)):
            x = block(norm(x), given=self.handed)
        return x
fast = torch.compile(M())
def main(x): fast(x)
""",
    "a compiled result that is thrown away": """
class M(nn.Module):
    def forward(self, x): return helper(x)
model = M()
torch.compile(model)
def main(x): model(x)
""",
    "a module that is compiled in place": """
class M(nn.Module):
    def forward(self, x): return helper(x)
model = M()
model.compile(backend="eager")
def main(x): model(x)
""",
    "a compiled result that is called at once": """
def run(x): return helper(x)
def main(x): torch.compile(run)(x)
""",
    "a helper that compiles in place and returns the same": """
class M(nn.Module):
    def forward(self, x): return helper(x)
def prepare(model):
    model.forward = torch.compile(model.forward)
    return model
model = M()
prepare(model)
def main(x): model(x)
""",
    "a decorator that compiles at the first call, by a name that has another meaning elsewhere": """
def lazily(fn):
    fast = None
    def run(*given):
        nonlocal fast
        if fast is None: fast = torch.compile(fn)
        return fast(*given)
    return run
fuse = lambda fn: fn
if True: fuse = lazily
@fuse
def step(x): return helper(x)
def main(x): step(x)
""",
    "a decorator whose closure calls the disabled function": KEPT_OUT
    + """
@keep_out()
def g(x): return helper(x)
@torch.compile
def run(x): return g(x)
def main(x): run(x)
""",
    "a decorator whose closure keeps some calls out": KEPT_OUT
    + """
@keep_out_large
def g(x): return helper(x)
@torch.compile
def run(x): return g(x)
def main(x): run(x)
""",
    "a method put on a class from outside": """
class Block(nn.Module):
    def mix(self, x): return x
    def forward(self, x): return self.mix(x)
class Late(Block):
    def mix(self, x): return other(x)
def patch():
    def mixed(self, x): return helper(x)
    Block.mix = mixed
patch()
fast = torch.compile(Late())
def main(x): fast(x)
""",
    "helpers that are handed something else by eager code": """
class Cold(nn.Module):
    def forward(self, x): return other(x)
class Block(nn.Module):
    def forward(self, x): return helper(x)
def inner(part, x, cache=None):
    if cache is not None and x.ndim: x = other(x)
    return part(x)
def through(part, x, cache=None): return inner(part, x, cache)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x): return through(self.block, x)
fast, cold = torch.compile(M()), Cold()
def main(x):
    through(cold, x, x)
    fast(x)
""",
    "an optional argument that compiled code gives": """
def inner(x, cache=None):
    if not (cache is None): x = other(x)
    return helper(x)
def run(x): return inner(x, cache=x)
fast = torch.compile(run)
def main(x): fast(x)
""",
    "a switch that the program turns on": SWITCH + "def main(x):\n    turn_on()\n    step(x)\n",
    "a lambda that compiles": """
fuse = lambda function: torch.compile(function)
fast = fuse(helper)
def main(x): fast(x)
""",
    "a class found by its dotted name, which compiles what it is given": """
import importlib
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Wrap(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = torch.compile(inner)
    def forward(self, x): return self.inner(x)
def find(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)
fast = find("m.Wrap")(Block())
def main(x): fast(x)
""",
    "a decorator whose function is annotated as a callable": """
from typing import Callable
def fuse(function: Callable) -> Callable:
    def fused(x): return torch.compile(function)(x)
    return fused
@fuse
def step(x): return helper(x)
def main(x): step(x)
""",
    "parts that a loop puts into the dictionaries of an attribute": """
class Part:
    def run(self, x): return helper(x)
class Steps:
    def __init__(self):
        self.states = [{}, {}]
        for state in self.states:
            state["part"] = Part()
        self.fast = torch.compile(self.slow)
    def slow(self, x):
        for state in self.states:
            x = state["part"].run(x)
        return x
steps = Steps()
def main(x): steps.fast(x)
""",
    "our module in a module of torch": LIBRARY
    + """
layer.linear1 = Head()
unused = Head2()
fast = torch.compile(layer)
def main(x): fast(torch.ones(2, 3, 8))
""",
    "our modules that a helper puts into a module of torch": LIBRARY
    + """
def swap(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Head())
swap(layer)
fast = torch.compile(layer)
def main(x): fast(torch.ones(2, 3, 8))
""",
    "a function in the place of a forward of torch": LIBRARY
    + """
def mine(self, x): return helper(x)
layer.linear1.forward = types.MethodType(mine, layer.linear1)
fast = torch.compile(layer)
def main(x): fast(torch.ones(2, 3, 8))
""",
    "a hook of a part of a module of torch": LIBRARY
    + """
def hook(module, given, result): return helper(result)
def back(module, given, result): return other(result)
layer.linear2.register_forward_hook(hook)
layer.compile()
def main(x): layer(torch.ones(2, 3, 8))
""",
    "a part of the forward of a class of torch": """
class Attention(torch.ao.nn.quantizable.MultiheadAttention):
    def _forward_impl(self, query, key, value, *rest): return helper(query), None
    def prepare(self, x): return other(x)
fast = torch.compile(Attention(4, 1))
def main(x): fast(*[torch.ones(2, 1, 4)] * 3)
""",
    "a compile of its own that calls that of torch": """
class Own(nn.Module):
    def __init__(self): super().__init__()
    def forward(self, x): return helper(x)
    def compile(self, **options): super().compile(**options)
class Eager(nn.Module):
    def forward(self, x): return other(x)
    def compile(self, **options): pass
own, eager = Own(), Eager()
own.compile()
eager.compile()
def main(x): own(eager(x))
""",
    "columns of lists that hold no blocks": HANDING
    + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.kinds, self.scales = ("a",), (2.0,)
    def forward(self, x):
        rows = (self.kinds, self.scales)
        for kind, scale in zip(*rows):
            x = helper(x) * scale
        return x
fast = torch.compile(M())
def main(x): fast(x)
""",
    "modules that an object of the project keeps": """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Nets:
    def __init__(self, nets): self.nets = nets
    def __iter__(self): yield from self.nets
    def __getitem__(self, at): return self.nets[at]
nets = Nets([Block()])
for net in nets: net.compile(backend="eager")
def main(x): nets[0](x)
""",
    "modules that checkpoints and stacks of torch call": """
from torch.utils.checkpoint import checkpoint
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Layer(nn.TransformerEncoderLayer):
    def forward(self, src, *masks, **more): return other(src)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(*[Block() for _ in range(2)])
        self.two = nn.TransformerEncoder(Layer(8, 1, 8), 2, enable_nested_tensor=False)
    def forward(self, x):
        x = checkpoint(self.one, x, use_reentrant=False)
        return self.two(x)
fast = torch.compile(M())
def main(x): fast(x.view(1, 4).repeat(1, 2).requires_grad_())
""",
    "a closure that an argument picks": """
def runner(i):
    run = (lambda x: helper(x), lambda x: helper(x + 1))[i]
    return torch.compile(run, backend="eager")
def main(x): runner(0)(x), runner(1)(x)
""",
    "a model that another branch wraps": """
class M(nn.Module):
    def forward(self, x): return helper(x)
class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
    def forward(self, x): return other(self.model(x))
def setup(model, how):
    if how == "compile":
        model = torch.compile(model, backend="eager")
    else:
        model = Wrapper(model)
    return model
def main(x): setup(M(), "compile")(x), setup(M(), "wrap")(x)
""",
    "modules that heirs of a Sequential are made with or put into themselves": """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Last(nn.Module):
    def forward(self, x): return other(x)
class Stack(nn.Sequential):
    def __init__(self, *blocks): super().__init__(*blocks)
class Grown(nn.Sequential):
    def __init__(self):
        super().__init__()
        self.first = Stack(Block(), Block())
        self.append(Last())
fast = torch.compile(Grown())
def main(x): fast(x)
""",
    "a Sequential compiled in place": """
class Block(nn.Module):
    def forward(self, x): return helper(x)
stack = nn.Sequential(Block(), Block())
stack.compile(backend="eager")
def main(x): stack(x)
""",
    "what a sibling hands to the base of both": """
class One(nn.Module):
    def forward(self, x): return helper(x)
class Two(nn.Module):
    def forward(self, x): return other(x)
class Base(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x): return self.part(x)
class Left(Base):
    def __init__(self): super().__init__(One())
class Right(Base):
    def __init__(self): super().__init__(Two())
eager, fast = Right(), torch.compile(Left())
def main(x): fast(eager(x))
""",
    "registries that an object holds": """
class Factory:
    def __init__(self): self.makers = {}
    def register_maker(self, name, maker): self.makers[name] = maker
    def create(self, name, **given): return self.makers[name](**given)
class Part(nn.Module):
    def forward(self, x): return helper(x)
class Net(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x): return self.part(x)
class Unused(nn.Module):
    def forward(self, x): return other(x)
class Runner:
    def __init__(self):
        self.nets = Factory()
        self.nets.register_maker("net", lambda part: Net(part))
        self.parts = Factory()
        self.parts.register_maker("part", lambda: Part())
        self.others = Factory()
        self.others.register_maker("other", lambda: Unused())
    def run(self, x):
        net = self.nets.create("net", part=self.parts.create("part"))
        return torch.compile(net)(self.others.create("other")(x))
def main(x): Runner().run(x)
""",
    "a class whose name means another at the end of its file": """
class Other(nn.Module):
    def forward(self, x): return helper(x)
class Net(nn.Module):
    def forward(self, x): return other(x)
def main(x): torch.compile(Net())(x)
Net = Other
""",
    "an object with a compile of its own": """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x): return self.blocks[0](other(x))
class Run:
    def __init__(self):
        self.net: Net = Net()
        self.compile()
    def compile(self):
        for block in self.net.blocks: block.compile(backend="eager")
def main(x): Run().net(x)
""",
    "a helper that only some calls have compile": """
class One(nn.Module):
    def forward(self, x): return helper(x)
class Two(nn.Module):
    def forward(self, x): return other(x)
def prepare(net, compile=False):
    if compile: net = torch.compile(net)
    return net
def main(x): prepare(One(), compile=True)(prepare(Two())(x))
""",
    "what runs only where compiling is disabled": """
class Net(nn.Module):
    def step(self, x, capture=True):
        if not capture: return helper(x)
        return other(x)
    def run(self, x, graphs):
        step = torch.compile(self.step, disable=graphs)
        return step(x, capture=graphs)
def main(x): Net().run(Net().run(x, True), False)
""",
    "a method that callers name in words": """
class Layer(nn.Module):
    def norm(self, x): return helper(x)
    def unused(self, x): return other(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x): return self.run("norm", x)
    def run(self, method: str, x): return getattr(self.layer, method)(x)
fast = torch.compile(Net())
def main(x): fast(x)
""",
    "a table that self has as well": """
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Agent:
    def __init__(self, config):
        self.config = config
        self.load()
        self.net = torch.compile(config["net"])
    def load(self): self.config["net"] = Net()
def main(x): Agent({}).net(other(x))
""",
    "a function that an operator is made of": """
from torch.library import infer_schema
def kernel(x: torch.Tensor) -> torch.Tensor: return other(x)
def step(x):
    infer_schema(kernel, mutates_args=())
    return helper(x)
fast = torch.compile(step)
def main(x): fast(x)
""",
    "a model that is only ever trained": MODES
    + """
def main(x):
    net.train()
    net(x)
""",
    "a model that is only ever evaluated": MODES
    + """
net.eval()
def main(x): net(x)
""",
    "a method that a base compiles": """
class Base:
    def __init__(self): self.fast = torch.compile(self.step, backend="eager")
    def step(self, x): return self.loss(x)
class First(Base):
    def loss(self, x): return helper(x)
class Second(Base):
    def loss(self, x): return other(x)
def main(x):
    First().fast(x)
    Second().fast(x)
""",
    "a method that a context of torch decorates": """
class M(nn.Module):
    def forward(self, x): return helper(x)
fast = torch.compile(torch.no_grad()(M().forward), backend="eager")
def main(x): fast(x)
""",
    "a decorator that says what it is": """
def plain(fn): return fn
def fuse(script=False):
    if not script:
        return torch.compile(backend="eager")
    return plain
@fuse()
def step(x): return helper(x)
@fuse(script=True)
def apart(x): return other(x)
def main(x):
    step(x)
    apart(x)
""",
    "a dataclass that is made": """
from dataclasses import dataclass, field
@dataclass
class State:
    x: torch.Tensor
    scale: list = field(default_factory=lambda: [2])
    def __post_init__(self): self.y = helper(self.x)
class Kept:
    def __new__(cls, x):
        self = object.__new__(cls)
        self.x = other(x)
        return self
@torch.compile(backend="eager")
def step(x): return State(x).y + Kept(x).x
def main(x): step(x)
""",
    "functions and modules that are scripted": """
class Net(nn.Module):
    def forward(self, x): return x + 2
scripted, traced = torch.jit.script(helper), torch.jit.trace(other, torch.ones(2))
net = torch.jit.script(Net())
@torch.compile(backend="eager")
def step(x): return net(scripted(x) + traced(x))
def main(x): step(x)
""",
    "a model that is handed over as a protocol": """
from typing import Protocol
class Layered(Protocol):
    layers: nn.ModuleList
class Block(nn.Module):
    def forward(self, x): return helper(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block()])
    def forward(self, x): return other(self.layers[0](x))
def apply(model: Layered):
    for i, layer in enumerate(model.layers): model.layers[i] = torch.compile(layer, backend="eager")
    return model
def main(x): apply(M())(x)
""",
}
ASKING = """
class Part(nn.Module):
    def forward(self, x): return other(x)
class Inner:
    def __init__(self): self.size, self.part = 3, Part()
class Wrapper({base}):
    shared = 2
    def __init__(self):
        super().__init__()
        inner = Inner()
        self.inner, self.part, self.width = [inner], inner.part, 2
    def __getattr__(self, name): return getattr(self.inner[0], name)
    def grow(self, x): return {read}
wrapper = Wrapper()
@torch.compile
def run(x): return wrapper.grow(x)
def main(x): run(x)
"""
PIPELINE = """
from deepspeed.pipe import PipelineModule
class Block(nn.Module):
    def forward(self, x): return helper(x)
def turn(x): return other(x)
def loss(x): return x.sum()
class Pipe(PipelineModule):
    def __init__(self, *given, split=None, **named):
        self.split = split
        super().__init__(*given, **named)
def layers():
    made = [turn]
    for _ in range(2): made.append(Block())
    return made
pipe = Pipe(layers=layers(), loss_fn=loss)
pipe.compile(dynamic=True)
def main(x): pipe.loss_fn(pipe(x))
"""


class Pipeline(torch.nn.Module):
    """What deepspeed.pipe.PipelineModule 0.18.4 does with its layers (deepspeed/runtime/pipe/module.py)."""

    def __init__(self, layers: list[Any], loss_fn: Any = None) -> None:
        super().__init__()
        self.forward_funcs, self.loss_fn = layers, loss_fn

    def forward(self, x: Any) -> Any:
        for layer in self.forward_funcs:
            x = layer(x)
        return x

    def compile(self, *arguments: Any, **keywords: Any) -> None:
        for index, layer in enumerate(self.forward_funcs):
            if isinstance(layer, torch.nn.Module):
                layer.compile(*arguments, **{**keywords, "backend": "eager"})
            else:
                self.forward_funcs[index] = torch.compile(layer, *arguments, **keywords)


UNMADE = """
class Encoder:
    def turn(self, x): return x
class Rotary(Encoder):
    def turn(self, x): return helper(x)
class Unused(Encoder):
    def turn(self, x): return other(x)
class M(nn.Module):
    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
    def forward(self, x): return self.encoder.turn(x)
fast = torch.compile(M(Rotary()), backend="eager")
"""


@NAMED
@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_dynamo_translates_what_the_regions_say(source: str, translated: Translated) -> None:
    if not hasattr(torch.compiler, "nested_compile_region") and "nested_compile_region" in source:
        pytest.skip("this torch has no nested_compile_region")
    assert set(hot(OURS + source)) == translated(OURS + source)


@NAMED
def test_dynamo_translates_each_layer_of_a_pipeline_that_is_compiled_but_not_its_loss(
    translated: Translated, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = ModuleType("deepspeed.pipe")
    library.PipelineModule = Pipeline  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "deepspeed", ModuleType("deepspeed"))
    monkeypatch.setitem(sys.modules, "deepspeed.pipe", library)
    layers = {"turn", "Block.forward", "helper", "other"}
    assert set(hot(OURS + PIPELINE)) == translated(OURS + PIPELINE) == layers


@NAMED
@pytest.mark.parametrize("base", ["nn.Module", "object"])
@pytest.mark.parametrize(
    "read",
    ["x * self.size", "self.part(x)", "x * self.width", "x * self.shared", "helper(x) * len(self.inner)"],
)
def test_dynamo_translates_a_getattr_for_what_is_not_in_the_instance_as_submodules_are_not(
    base: str, read: str, translated: Translated
) -> None:
    source = OURS + ASKING.format(base=base, read=read)
    assert set(hot(source)) == translated(source)


@NAMED
def test_dynamo_does_not_translate_what_a_switch_keeps_off_and_so_it_is_not_certain(
    translated: Translated,
) -> None:
    source = OURS + SWITCH + "def main(x): step(x)\n"
    assert translated(source) == {"step"}
    assert hot(source) == {"step": "certain", "helper": "likely"}


@NAMED
def test_dynamo_translates_what_is_given_for_a_base_that_nobody_makes_and_so_the_base_is_not_certain(
    translated: Translated,
) -> None:
    source = OURS + UNMADE + "def main(x): fast(x)\n"
    assert translated(source) == {"M.forward", "Rotary.turn", "helper"}
    assert hot(source) == {
        "M.forward": "certain",
        "Encoder.turn": "likely",
        "Rotary.turn": "likely",
        "helper": "likely",
    }


CONSTANT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.legacy = False
    def forward(self, x):
        if self.legacy: x = helper(x)
        return other(x)
def main(x): torch.compile(Net())(x)
"""
CLASS_CONSTANT = """
class Net(nn.Module):
    fast = True
    def forward(self, x):
        if not self.fast: return helper(x)
        return other(x)
def main(x): torch.compile(Net())(x)
"""
WAITING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None
    def fill(self): self.cache = 1
    def forward(self, x):
        last = x if self.cache else None
        if self.cache is not None: x = helper(x)
        if last is not None: x = helper(x)
        return other(x)
def main(x): torch.compile(Net())(x)
"""
ONE_END = """
class Small(nn.Module):
    def forward(self, x): return helper(x)
class Large(nn.Module):
    def forward(self, x): return other(x)
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.part = Small() if size < 3 else Large()
    def forward(self, x): return self.part(x)
def main(x): torch.compile(Net(4))(x)
"""
PLATFORM = """
def pick():
    if torch.cuda.device_count() > 1000: return helper
    return other
act = pick()
@torch.compile(backend="eager")
def step(x): return act(x)
def main(x): step(x)
"""
TYPES = """
@torch.compile(backend="eager")
def step(x):
    if isinstance(x, list): return helper(x[0])
    return x + 1
def main(x): step(x)
"""
NEVER_MADE = """
class Drop(nn.Module):
    def forward(self, x): return helper(x)
class Plain(nn.Module):
    def forward(self, x): return other(x)
class Block(nn.Module):
    def __init__(self, p=0.):
        super().__init__()
        self.drop = Drop() if p > 0. else Plain()
    def forward(self, x): return self.drop(x)
def main(x): torch.compile(Block(), backend="eager")(x)
"""
NAMED_ONE = """
class Small(nn.Module):
    def forward(self, x): return helper(x)
class Large(nn.Module):
    def forward(self, x): return other(x)
def get(name):
    if name == "small": return Small
    if name == "large": return Large
def main(x): torch.compile(get("".join(["lar", "ge"]))())(x)
"""


@NAMED
@pytest.mark.parametrize(
    ("source", "run", "kept_out"),
    [
        (CONSTANT, {"Net.forward", "other"}, {"helper"}),
        (NAMED_ONE, {"Large.forward", "other"}, {"Small.forward", "helper"}),
        (CLASS_CONSTANT, {"Net.forward", "other"}, {"helper"}),
        (WAITING, {"Net.forward", "other"}, {"helper"}),
        (ONE_END, {"Net.forward", "Large.forward", "other"}, {"Small.forward", "helper"}),
        (PLATFORM, {"step", "other"}, {"helper"}),
        (TYPES, {"step"}, {"helper"}),
    ],
    ids=["a constant", "a text", "a class body", "off at first", "one end", "a platform", "a type"],
)
def test_dynamo_does_not_translate_what_a_constant_or_a_text_keeps_off_and_so_it_is_not_certain(
    source: str, run: set[str], kept_out: set[str], translated: Translated
) -> None:
    assert translated(OURS + source) == run
    found = hot(OURS + source)
    assert set(found) == run | kept_out
    assert {found[name] for name in kept_out} == {"likely"}


@NAMED
def test_dynamo_does_not_translate_what_a_default_keeps_from_being_made(translated: Translated) -> None:
    run = {"Block.forward", "Plain.forward", "other"}
    assert translated(OURS + NEVER_MADE) == run
    assert hot(OURS + NEVER_MADE) == dict.fromkeys(run, "certain")
