import os
import tempfile
from pathlib import Path

import torch
# %% temporary, relative and empty
os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/tmp/cache"  # expect: DYN518 note
os.environ.setdefault("TRITON_CACHE_DIR", "cache/triton")  # expect: DYN518 note
os.environ["JAX_COMPILATION_CACHE_DIR"] = ""  # expect: DYN518 note
# %% made for this run alone
os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()  # expect: DYN518 note
os.environ.update({"TRITON_CACHE_DIR": os.path.join(tempfile.gettempdir(), "triton")})  # expect: DYN518 note
# %% for each user below a temporary folder
def configure(user):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"/tmp/{user}/inductor"  # expect: DYN518 note
    folder = Path("/dev/shm")
    os.environ["TRITON_CACHE_DIR"] = str(folder)  # expect: DYN518 note
# %% the contract asks for the variable
# contract: environment = { TRITON_CACHE_DIR = { required = true } }
os.environ["TRITON_CACHE_DIR"] = "/tmp/triton"  # expect: DYN518
# %% quiet: on a volume
os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/mnt/cache/inductor"
# %% quiet: from the launcher
os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ["JOB_CACHE"]
os.environ["TRITON_CACHE_DIR"] = os.path.join(os.environ["JOB_CACHE"], "triton")
# %% quiet: below a folder that only the run knows
def configure(root):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(root) / "inductor")
    os.environ["TRITON_CACHE_DIR"] = f"{root}/triton"
# %% quiet: the cache of something else
os.environ["HF_HOME"] = "/tmp/models"
os.environ["PIP_CACHE_DIR"] = ""
# %% quiet: no cache, what is to be looked at
os.environ["TORCH_COMPILE_DEBUG_DIR"] = "/tmp/debug"
# %% quiet: for a child alone
environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": "/tmp/cache"}
# %% quiet: read, not written
folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "/tmp/cache")
# %% quiet: absolute by what it is made of
os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.abspath("cache")
# %% quiet: a test
# file: tests/test_cache.py
import os

os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/tmp/cache"
