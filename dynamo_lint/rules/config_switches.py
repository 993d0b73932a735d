"""Settings of torch._dynamo.config that the code itself makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dynamo_lint.index import ir
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.project import Project
from dynamo_lint.rules.base import Context

LIMITS = ("recompile_limit", "cache_size_limit")
"""`torch._dynamo.config.cache_size_limit` is the older name (torch/_dynamo/config.py)."""


def seen_in_code(project: Project, context: Context, tested: bool) -> Context:
    """The settings with what the project itself stores into torch._dynamo.config.

    What a test sets holds in what tests compile (`tested`): a run of the program never sees it.
    """
    limits = [value for name in LIMITS for value in _stored(project, name, tested) if isinstance(value, int)]
    unspec = any(value is True for value in _stored(project, "allow_unspec_int_on_nn_module", tested))
    return replace(
        context,
        recompile_limit=max([context.recompile_limit, *limits]),
        unspec_int=context.unspec_int or unspec,
    )


def _stored(project: Project, name: str, tested: bool) -> Iterator[object]:
    for where, store in project.stores_of(name):
        if in_tests(where.path) and not tested:
            continue
        if isinstance(store.value, ir.Constant) and _is_config(store.owner):
            yield store.value.value
    for path, call in _patches(project):
        if in_tests(path) and not tested:
            continue
        for keyword, value in call.keywords:
            if keyword == name and isinstance(value, ir.Constant):
                yield value.value


def _patches(project: Project) -> Iterator[tuple[str, ir.Call]]:
    """`torch._dynamo.config.patch(...)` and `@patch_dynamo_config(...)`, each with its file."""
    for method in ("patch", "patch_dynamo_config"):
        called = ((where, site.call) for where, site in project.calls_of(method))
        for where, call in (*called, *project.decorated_with(method)):
            if isinstance(call, ir.Call) and _patches_config(call.function):
                yield where.path, call


def _patches_config(function: ir.Expr) -> bool:
    match function:
        case ir.Attribute(_, "patch_dynamo_config") | ir.Name("patch_dynamo_config"):
            return True
        case ir.Attribute(owner, "patch"):
            return _is_config(owner)
    return False


def _is_config(owner: ir.Expr) -> bool:
    match owner:
        case ir.Attribute(_, name) | ir.Name(name):
            return name.endswith("config")
    return False
