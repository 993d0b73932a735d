"""Calls that certainly break the graph, by name; each was seen to with torch 2.13, in a loop over layers."""

from __future__ import annotations

SKIPPED = frozenset(
    {
        "builtins.open",
        "builtins.print",
        "copy.deepcopy",
        "gc.collect",
        "inspect.stack",
        "logging.critical",
        "logging.debug",
        "logging.error",
        "logging.info",
        "logging.warning",
        "os.path.exists",
        "subprocess.run",
        "sys._getframe",
        "time.monotonic",
        "time.perf_counter",
        "time.sleep",
        "time.time",
        "torch._dynamo.graph_break",
        "torch.allclose",
        "torch.equal",
        "torch.get_rng_state",
        "torch.manual_seed",
        "torch.save",
        "traceback.format_stack",
        "traceback.print_exc",
        "uuid.uuid4",
        "warnings.warn",
    }
)
"""Functions that Dynamo does not trace, by dotted name."""

LOGGING = frozenset({"debug", "info", "warning", "error", "critical", "exception", "log"})
"""Methods of a `logging.Logger`."""
LOGGER = "logging.getLogger"

SCALAR_METHODS = frozenset({"item", "tolist"})
SHAPE_METHODS = frozenset({"nonzero", "masked_select", "unique", "bincount"})
"""Methods whose result has a shape that depends on the values in the tensor."""

SETTINGS = frozenset({"capture_scalar_outputs", "capture_dynamic_output_shape_ops", "nested_graph_breaks"})
"""With any of these in torch._dynamo.config, the breaks are others."""

LOG_SETTINGS = frozenset(
    {"reorderable_logging_functions", "ignore_logging_functions", "ignore_logger_methods"}
)
"""With any of these, what writes a message need not break (torch/_dynamo/config.py)."""

WRITING = frozenset({"builtins.print", "warnings.warn"})
"""Of those functions, the ones that write a message; those of `logging` do as well."""

MAKERS = frozenset(
    {"arange", "bernoulli", "empty", "empty_like", "full", "full_like", "linspace", "ones"}
    | {"ones_like", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "tensor"}
    | {"zeros", "zeros_like"}
)
"""Functions of `torch` that make a tensor of anything."""

OPERATIONS = frozenset(
    {"abs", "all", "any", "argmax", "argmin", "bitwise_and", "bitwise_not", "bitwise_or", "bool"}
    | {"ceil", "clamp", "clone", "contiguous", "cumsum", "detach", "double", "eq", "exp", "expand"}
    | {"flatten", "float", "floor", "gather", "ge", "greater", "gt", "half", "int", "isfinite"}
    | {"isinf", "isnan", "le", "less", "log", "logical_and", "logical_not", "logical_or", "long"}
    | {"lt", "masked_fill", "mean", "mul", "ne", "norm", "not_equal", "permute", "prod", "relu"}
    | {"reshape", "round", "scatter", "sigmoid", "softmax", "sqrt", "squeeze", "sub", "sum", "tanh"}
    | {"to", "transpose", "type_as", "unsqueeze", "view"}
)
"""Methods of a tensor, and functions of `torch` that are given one, that give one tensor back."""

WHOLE = frozenset({"max", "min", "median"})
"""... that give one tensor if they are asked for no dimension."""

PAIRS = frozenset({"topk", "sort"})
"""... and that give a tuple of tensors."""

CONVERSIONS = frozenset({"builtins.bool", "builtins.float", "builtins.int", "builtins.str"})
"""Of a tensor, they ask for its value."""

TELLING = frozenset(
    {
        *(name.rpartition(".")[2] for name in (*SKIPPED, *CONVERSIONS)),
        *(LOGGING | SCALAR_METHODS | SHAPE_METHODS),
        *("all", "any", "isfinite", "isinf", "isnan", "rand", "randn", "randint", "bernoulli", "where"),
        *("sum", "max", "min", "mean", "norm"),
    }
)
"""A function that calls none of these has no break that could be seen here, so it need not be read."""
