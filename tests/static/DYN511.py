import torch


@torch.compile
def scale(x):
    return x * 2
# %% raised by assignment, by its older name, and in a table
def configure():
    torch._dynamo.config.recompile_limit = 32  # expect: DYN511 note
    torch._dynamo.config.cache_size_limit = 9  # expect: DYN511 note
    with torch._dynamo.config.patch({"accumulated_recompile_limit": 1000}):  # expect: DYN511 note
        scale(torch.ones(3))
# %% raised by way of names
from torch._dynamo import config as dynamo

MOST = 64
dynamo.cache_size_limit = max(dynamo.cache_size_limit, MOST)  # expect: DYN511 note
setattr(dynamo, "recompile_limit", MOST)  # expect: DYN511 note
# %% raised by some
torch._dynamo.config.recompile_limit += 56  # expect: DYN511 note
torch._dynamo.config.cache_size_limit *= 2  # expect: DYN511 note

def configure(layers):
    torch._dynamo.config.recompile_limit += len(layers)  # expect: DYN511 note
    torch._dynamo.config.recompile_limit = torch._dynamo.config.recompile_limit + 8  # expect: DYN511 note
    torch._dynamo.config.recompile_limit = 64 if layers else 8  # expect: DYN511 note
# %% quiet: lowered by some
torch._dynamo.config.recompile_limit -= 4
torch._dynamo.config.accumulated_recompile_limit //= 2
torch._dynamo.config.recompile_limit = min(torch._dynamo.config.recompile_limit, 4)
# %% quiet: more of something else
class Budget:
    recompile_limit = 8

budget = Budget()
budget.recompile_limit += 8
# %% quiet: nothing added to it
def configure(options):
    torch._dynamo.config.recompile_limit = torch._dynamo.config.recompile_limit
    torch._dynamo.config.recompile_limit = options.limit + 1
# %% raised for one compile
fast = torch.compile(scale, recompile_limit=20)  # expect: DYN511 note
# %% quiet: as torch has it, or lower
torch._dynamo.config.recompile_limit = 8
torch._dynamo.config.accumulated_recompile_limit = 64
# %% quiet: the tripwire
torch._dynamo.config.fail_on_recompile_limit_hit = True
# %% quiet: only the run knows
def configure(options):
    torch._dynamo.config.recompile_limit = options.limit
    torch._dynamo.config.recompile_limit = max(4, options.limit)
# %% quiet: the limit of something else
class Cache:
    cache_size_limit = 64

config = Cache()
config.cache_size_limit = 128
# %% the contract allows so many
# contract: settings = { recompile_limit = 16 }
torch._dynamo.config.recompile_limit = 16

def more():
    torch._dynamo.config.recompile_limit = 17  # expect: DYN511
# %% quiet: a test raises it
# file: tests/test_scale.py
import torch

torch._dynamo.config.recompile_limit = 64
# %% quiet: a limit of autotuning
torch._inductor.config.max_autotune_gemm_search_space = "DEFAULT"
# %% quiet: a restored limit
def around():
    before = torch._dynamo.config.recompile_limit
    torch._dynamo.config.recompile_limit = 4
    scale(torch.ones(3))
    torch._dynamo.config.recompile_limit = before
# %% raised for each block of a model
def build(blocks):
    for number, block in enumerate(blocks):
        blocks[number] = torch.compile(block, recompile_limit=64)  # expect: DYN511 note
    return blocks
# %% quiet: a limit is read and logged
def log():
    limit = torch._dynamo.config.recompile_limit
    print(f"limit {limit + 8}")
    if limit > 8:
        raise SystemExit("do not raise the limit")
# %% quiet: the contract names exactly that, by older and by whole names
# contract: settings = { cache_size_limit = 64, "torch._dynamo.config.accumulated_recompile_limit" = 512 }
torch._dynamo.config.cache_size_limit = 64
torch._dynamo.config.recompile_limit = 64
torch._dynamo.config.accumulated_cache_size_limit = 512
fast = torch.compile(scale, recompile_limit=64)
# %% more than the contract says, by an older name
# contract: settings = { recompile_limit = 16 }
torch._dynamo.config.cache_size_limit = 64  # expect: DYN511
