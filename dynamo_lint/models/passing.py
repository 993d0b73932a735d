"""Library functions that return their argument, or run what they are given."""

from __future__ import annotations

from dynamo_lint.index.ir import Call, Expr
from dynamo_lint.models.wrappers import UNWRAPPING
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ExternalSymbol, FunctionRef
from dynamo_lint.values import iterables
from dynamo_lint.values.containers import MODULE_CONTAINERS

_TRANSFORMS = ("vmap", "grad", "grad_and_value", "jacrev", "jacfwd", "hessian", "functionalize")
"""Functions that give a function that calls the one they are given (torch/_functorch/apis.py)."""
_PASS_FIRST = frozenset(
    {
        COMPILE,
        "functools.partial",
        "copy.deepcopy",
        "copy.copy",
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.parallel.distributed.DistributedDataParallel",
        "torch.distributed._composable.fsdp.fully_shard",
        "torch.distributed.fsdp.fully_shard",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.compiler.nested_compile_region",
        "torch._higher_order_ops.invoke_subgraph.mark_compile_region",
        "typing.cast",
        *(f"{package}.{name}" for package in ("torch.func", "functorch") for name in _TRANSFORMS),
        "torch.vmap",
    }
)
_COMBINING = frozenset(f"torch.nn.attention.flex_attention.{name}" for name in ("and_masks", "or_masks"))
"""Functions that give one that calls all their arguments (torch/nn/attention/flex_attention.py)."""
COLLECTIONS = frozenset(
    {"list", "tuple", "set", "frozenset", "reversed", "sorted", "iter", "dict", "OrderedDict", "deque"}
    | {"MappingProxyType"}
)
_WRAPPING = UNWRAPPING | frozenset(
    {"weight_norm", "spectral_norm", "checkpoint_wrapper", "convert_sync_batchnorm", "replicate"}
    | {"parallelize_module", "get_peft_model", "prepare_model_for_kbit_training"}
)
"""Last names of functions of libraries that give back the module that they are given first."""
_PASSING = COLLECTIONS | iterables.PASSING | {*MODULE_CONTAINERS, "SimpleNamespace", "type"}


def passes_on(dotted: str) -> bool:
    """Whether a call of something outside the project may give back what it is given."""
    last = dotted.rpartition(".")[2]
    return dotted in _PASS_FIRST or dotted in _COMBINING or last in _PASSING or last in _WRAPPING


def passed_through(dotted: str, arguments: tuple[Expr, ...], first: Expr | None) -> tuple[Expr, ...]:
    """The arguments that a call of something outside the project gives back as they are, or wrapped."""
    if dotted in _COMBINING:
        return arguments
    through = dotted in _PASS_FIRST or dotted.rpartition(".")[2] in _WRAPPING
    return (first,) if through and first is not None else ()


def innermost(project: Project, called: Expr, where: FunctionRef) -> Expr:
    """Return the innermost function that library functions wrap: `f` of `torch.vmap(f)(x)`."""
    while isinstance(called, Call) and called.arguments:
        match project.symbols(called.function, where.path, where.key):
            case (ExternalSymbol(dotted),) if through := passed_through(
                dotted, called.arguments, called.arguments[0]
            ):
                called = through[0]
            case _:
                break
    return called
