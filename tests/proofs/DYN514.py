"""Values that torch misreads, and names that it does not read; values that mean what they say.

tests/models/test_environment_under_torch.py runs the readers of torch in processes of their own.
"""

import os

os.environ["TORCHDYNAMO_SUPPRESS_ERRORS"] = "0"  # expect: DYN514
os.environ["TORCHDYNAMO_DISABLE"] = "true"  # expect: DYN514
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "off"  # expect: DYN514
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "auto"  # expect: DYN514
os.environ["TORCH_LOGS"] = "recompile"  # expect: DYN514
os.environ["TORCH_DYNAMO_AUTOMATIC_DYNAMIC_SHAPES"] = ""  # expect: DYN514
os.environ["TORCHINDUCTOR_MAX_AUTOTUN"] = "1"  # expect: DYN514
os.environ["TORCH_DISTRIBUTED_DEFAULT_TIMEOUT"] = "600"  # expect: DYN514

os.environ["TORCHINDUCTOR_MAX_AUTOTUNE"] = "1"
os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "0"
os.environ["TORCH_COMPILE_DISABLE"] = "0"
os.environ["TORCHINDUCTOR_MAX_AUTOTUNE_GEMM"] = os.environ.get("TUNE", "0")
os.environ["TORCH_COMPILE_BLOCKS"] = "true"
BLOCKS = os.environ.get("TORCH_COMPILE_BLOCKS")
os.environ["TORCH_HOME"] = "/mnt/models"
os.environ["TORCHRUN_WRAPPER"] = "yes"
