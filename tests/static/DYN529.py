import torch
# %% behind the first tensor
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr

def main():
    device = xm.xla_device()
    x = torch.ones(3, device=device)
    xr.initialize_cache("/mnt/cache")  # expect: DYN529
    return x
# %% behind a function that computes
import torch_xla
import torch_xla.runtime as xr

def warm(model):
    model.to(torch_xla.device())
    torch_xla.sync()

def main(model):
    warm(model)
    xr.initialize_cache("/mnt/cache", readonly=False)  # expect: DYN529
# %% of JAX, behind a call
import jax

@jax.jit
def double(x):
    return x * 2

def main():
    double(1.0)
    jax.config.update("jax_compilation_cache_dir", "/mnt/cache")  # expect: DYN529 note
# %% quiet: first of all
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr

xr.initialize_cache("/mnt/cache")

def main():
    device = xm.xla_device()
    return torch.ones(3, device=device)
# %% quiet: the device alone computes nothing
import torch_xla
import torch_xla.runtime as xr

def main():
    device = torch_xla.device()
    index = torch.arange(3)
    xr.initialize_cache(f"/mnt/cache/{xr.process_index()}")
    return index.to(device)
# %% quiet: of JAX, before
import jax
import jax.numpy as jnp

jax.config.update("jax_compilation_cache_dir", "/mnt/cache")
double = jax.jit(lambda x: x * 2)
double(jnp.ones(3))
# %% quiet: another key
import jax
import jax.numpy as jnp

jnp.ones(3)
jax.config.update("jax_enable_x64", True)
