"""The table of what functions, methods and modules of torch give: a tensor, several, a Python number."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef

_WORDS = knowledge.table("torch")["results"]


def _names(key: str) -> frozenset[str]:
    return frozenset(_WORDS[key].split())


MOVES = _names("moves")
"""Methods that give a tensor back on another device or with another dtype, or the tensor itself."""
TENSOR_METHODS = _names("tensor_methods")
"""Methods whose receiver can hardly be anything but a tensor."""
SHARED_METHODS = _names("shared_methods")
"""Other methods that give a tensor of a tensor: containers, NumPy and strings have some of these too."""
NOT_TENSOR_METHODS = _names("not_tensor_methods")
"""Methods of tensors that give something else, or several tensors."""
_PAIRS = _names("pairs")
"""Methods and functions that give a tuple of tensors."""
WHOLE = _names("whole")
"""Methods and functions that give one tensor if they are asked for no dimension, and else a pair."""
REDUCTIONS = _names("reductions")
"""Methods and functions that give a tensor without dimensions if they are asked for none."""
BOOLEAN = _names("boolean")
"""Methods and functions that give a tensor of bools."""
CASTS = _names("casts")
"""Methods that give a tensor of another dtype."""
INT_METHODS = _names("int_methods")
"""Methods of tensors that give sizes."""
_TENSOR_ONLY_ATTRIBUTES = _names("tensor_only_attributes")
"""Attributes that hardly anything but a tensor has."""
_NOT_TENSOR_FUNCTIONS = _names("not_tensor_functions")
"""Functions of torch that give no tensor, or several."""
JOINS = frozenset(f"torch.{name}" for name in _names("joins"))
"""Functions of torch that take several tensors, most of them in a list."""
_LISTS = frozenset(f"torch.{name}" for name in _names("lists"))
"""Functions of torch that give a tuple of tensors, as many as they are asked for."""
LOSSES = _names("losses")
"""Functions of torch.nn.functional that give one number, unless they are asked for another `reduction`."""
SCALARS = _names("scalars")
"""Reductions whose result is a number as their input is one."""
ELEMENTWISE = _names("elementwise")
"""Methods whose result has the shape of what they are called on."""
BOOL_FUNCTIONS = _names("bool_functions")
"""Functions of torch that give a Python bool."""
GIVES_NO_TENSOR = BOOL_FUNCTIONS | (
    _NOT_TENSOR_FUNCTIONS
    - _PAIRS
    - WHOLE
    - {name.rpartition(".")[2] for name in (*JOINS, *_LISTS)}
    - {"compile", "cond", "vmap", "while_loop"}
)
"""Functions of torch that give a number, a truth value or an object of torch."""
TUPLE_MODULES = _names("tuple_modules")
"""Modules of torch.nn that give several tensors, or whatever is in them."""
TENSOR_ANNOTATIONS = knowledge.last_names("tensors")
"""Classes whose instances are tensors, without their module."""
_PACKAGES = _names("packages")
"""Packages of functions that give tensors, most of them."""


def gives_tensor(dotted: str) -> bool:
    """Whether a function outside the project gives one tensor, by its dotted name."""
    package, _, name = dotted.rpartition(".")
    return (
        package in _PACKAGES
        and name not in _NOT_TENSOR_FUNCTIONS
        and not name[:1].isupper()
        and not name.startswith(("is_", "get_", "has_", "set_", "use_"))
    )


def tensor_parameters(project: Project, ref: FunctionRef, receiver: ClassRef | None) -> frozenset[str]:
    """The parameters that can hardly be anything but tensors.

    Those declared to be, whatever is used through methods and attributes that only tensors have, and those
    that a module is merely presumed to get.
    """
    function = project.function(ref)
    plain = [one.name for one in function.parameters if one.annotation is None and one.kind == "positional"]
    found = set(_presumed_tensors(project, ref, receiver))
    for load in function.loads:
        if isinstance(load.value, ir.Name) and load.name in _TENSOR_ONLY_ATTRIBUTES:
            found.add(load.value.id)
    for site in function.calls:
        match site.call.function:
            case ir.Attribute(ir.Name(name), method) if method in TENSOR_METHODS or method in INT_METHODS:
                found.add(name)
    declared = {
        one.name
        for one in function.parameters
        if one.default is None and is_tensor_annotation(one.annotation)
    }
    return frozenset(declared | found.intersection(plain))


def _presumed_tensors(project: Project, ref: FunctionRef, receiver: ClassRef | None) -> frozenset[str]:
    """The first argument of `forward` of a module, unless the code says that it is something else.

    A default says that, and a comparison with a text or a member of an enumeration; calls know better.
    """
    function = project.function(ref)
    if receiver is None or not function.qualname.endswith(".forward") or not project.is_module(receiver):
        return frozenset()
    named = {name for _, _, name, wanted in function.picked if isinstance(wanted[0], str)}
    return frozenset(
        one.name
        for one in function.parameters[1:2]
        if one.annotation is None
        and one.kind == "positional"
        and one.default in (None, ir.Constant(None))
        and one.name not in named
    )


def is_tensor_annotation(annotation: ir.Expr | None) -> bool:
    """Whether an annotation names a class of tensors, and nothing else."""
    match annotation:
        case ir.Name(name) | ir.Attribute(_, name):
            return name in TENSOR_ANNOTATIONS
        case ir.Constant(str() as text):
            return text.rpartition(".")[2] in TENSOR_ANNOTATIONS
    return False
