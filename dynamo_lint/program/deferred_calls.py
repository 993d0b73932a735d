"""Calls that run later: `partial`, threads, and other ways to hand a function and its arguments on."""

from __future__ import annotations

from dynamo_lint.index.ir import UNKNOWN, Call, Display, Expr, Subscript

SPECS = {"LayerSpec": 0, "TiedLayerSpec": 1}
"""Where deepspeed's descriptions of a layer take its class (deepspeed/runtime/pipe/module.py)."""
_AT = {"partial": 0, "submit": 0, "run_in_executor": 1, **SPECS}
"""Callers of their argument at a position with all that follows: functools, deepspeed, executors."""
_EACH = frozenset({"map", "imap", "starmap"})
"""Functions that call their first argument with the items of the others."""
_APART = frozenset({"Thread", "Process", "spawn", "start_processes", "notebook_launcher"})
"""Functions that call their target, or their first argument, with the `args` given beside it."""
_RANKED = frozenset({"spawn", "start_processes"})
"""Those of torch.multiprocessing, which put the number of the process before these."""
LATER = frozenset({*_AT, *_EACH, *_APART})


def called_later(name: str, call: Call) -> Call | None:
    """The call that a call of something of this name leads to; None if it says too little."""
    given = dict(call.keywords)
    if name in _AT:
        if len(call.arguments) <= _AT[name]:
            return None
        function, *arguments = call.arguments[_AT[name] :]
        return Call(function, tuple(arguments), call.keywords, call.line)
    function, *arguments = call.arguments or (UNKNOWN,)
    if name in _EACH:
        each = tuple(Subscript(one, UNKNOWN) for one in arguments)
        return Call(function, each, (), call.line) if each else None
    function = given.get("target", given.get("function", given.get("fn", function)))
    passed = given.get("args", arguments[0] if arguments else UNKNOWN)
    match passed:
        case Display("tuple" | "list", items):
            first: tuple[Expr, ...] = (UNKNOWN,) if name in _RANKED else ()
            return Call(function, (*first, *items), (), call.line)
    return None
