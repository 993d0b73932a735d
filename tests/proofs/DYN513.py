"""Variables that are set too late, and in time; no probe can show it, for a probe runs when torch has read them.

tests/models/test_environment_under_torch.py runs the readers of torch in processes of their own.
"""

import os
import subprocess

os.environ["TORCH_LOGS"] = "recompiles"


def early():
    """Runs before torch is imported."""
    os.environ["TORCH_TRACE"] = "/mnt/trace"


early()

import torch  # noqa: E402

os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "1"
os.environ["TORCH_LOGS"] = "recompiles"  # expect: DYN513
if os.environ.get("COLUMNS"):
    import torch._dynamo
os.environ.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "1")


@torch.compiler.disable  # kept eager, and the first thing here that loads the compiler
def report(x):
    return float(x)


NAME = "TORCHINDUCTOR_COMPILE_THREADS"
os.environ[NAME] = "8"  # expect: DYN513
os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/mnt/cache"
os.environ["TORCHDYNAMO_DISABLE"] = "1"
os.environ.update({"TORCHINDUCTOR_MAX_AUTOTUNE": "1"}, HOME="/root")  # expect: DYN513


def late():
    """Runs when all of the file has."""
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # expect: DYN513


def launch(command):
    """Sets it for a child."""
    os.environ["TORCH_LOGS"] = "graph_breaks"
    subprocess.run(command, check=True)


def load(data):
    """Sets it for the workers."""
    os.environ["TORCH_LOGS"] = "-dynamo"
    return torch.utils.data.DataLoader(data, num_workers=2)
