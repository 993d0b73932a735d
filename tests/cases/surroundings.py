"""The environment of a program: variables that are set too late, or to what torch misreads."""

import os

os.environ["TORCHINDUCTOR_MAX_AUTOTUNE"] = "True"  # expect: DYN514
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"

import torch

os.environ["TORCH_LOGS"] = "recompiles"  # expect: DYN513
os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "1"


@torch.compile
def scale(x):
    return x * 2


os.environ["TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS"] = "1"  # expect: DYN513
