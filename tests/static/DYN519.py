import triton
import triton.language as tl

TWO = [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})]
# %% tuned for each number of tokens
@triton.autotune(configs=TWO, key=["num_tokens", "dim"])  # expect: DYN519 note
@triton.jit
def one(x_ptr, num_tokens, dim, BLOCK: tl.constexpr):
    pass

@triton.autotune(TWO, ["seq_len"])  # expect: DYN519 note
@triton.jit
def two(x_ptr, seq_len, BLOCK: tl.constexpr):
    pass
# %% tuned once for all
@triton.autotune(configs=TWO, key=[])  # expect: DYN519 note
@triton.jit
def one(x_ptr, n, BLOCK: tl.constexpr):
    pass
# %% more than the contract allows
# contract: max-autotune-configs = 8
MANY = [triton.Config({"BLOCK": b}, num_warps=w) for b in (32, 64, 128) for w in (2, 4, 8)]

@triton.autotune(configs=MANY, key=["dim"])  # expect: DYN519
@triton.jit
def one(x_ptr, dim, BLOCK: tl.constexpr):
    pass
# %% quiet: few configurations, and a dimension
@triton.autotune(configs=TWO, key=["dim"])
@triton.jit
def one(x_ptr, n_tokens, dim, BLOCK: tl.constexpr):
    pass
# %% quiet: as many as the contract allows
# contract: max-autotune-configs = 2
@triton.autotune(configs=TWO, key=["dim"])
@triton.jit
def one(x_ptr, dim, BLOCK: tl.constexpr):
    pass
# %% quiet: there is nothing to choose
@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=[])
@triton.jit
def one(x_ptr, n, BLOCK: tl.constexpr):
    pass
# %% quiet: the sizes of a product
@triton.autotune(configs=TWO, key=["M", "N", "K"])
@triton.jit
def one(x_ptr, M, N, K, BLOCK: tl.constexpr):
    pass
# %% quiet: the autotune of somebody else
def autotune(configs, key):
    return lambda f: f

@autotune(configs=TWO, key=["n_tokens"])
def one(x_ptr, n_tokens):
    pass
# %% quiet: not tuned
@triton.jit
def one(x_ptr, n_tokens, BLOCK: tl.constexpr):
    pass
# %% quiet: a key that only the run knows
def tuned(keys):
    return triton.autotune(configs=TWO, key=keys)
