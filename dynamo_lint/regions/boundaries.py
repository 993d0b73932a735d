"""Where tracing stops: disabled functions, code that Dynamo does not look into, and what the user cut."""

from __future__ import annotations

from dynamo_lint.index import facts
from dynamo_lint.index.facts import MODULE_KEY, Expr
from dynamo_lint.regions.abstract import is_empty, is_left_to_heirs
from dynamo_lint.regions.disabling import Disabling
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.patterns import matches
from dynamo_lint.regions.project import External, Project, Symbol

_OPERATORS = frozenset(
    {"torch.library.custom_op", "torch.library.triton_op", "torch._library.custom_ops.custom_op"}
)
"""What makes a custom operator of a function."""
# Dynamo does not look into these (torch/_dynamo/decorators.py, torch/_library/custom_ops.py).
_OPAQUE = frozenset(
    {
        "torch.compiler.allow_in_graph",
        "torch._dynamo.allow_in_graph",
        "torch._dynamo.decorators.allow_in_graph",
        "torch.compiler.assume_constant_result",
        "torch._dynamo.assume_constant_result",
        "torch._dynamo.decorators.assume_constant_result",
        "torch._dynamo.nonstrict_trace",
        "torch._dynamo.decorators.nonstrict_trace",
        "torch.library.register_fake",
        "torch.library.impl",
        "triton.jit",
        "triton.autotune",
        "triton.heuristics",
        "triton.runtime.jit.jit",
        *_OPERATORS,
    }
)
_OPAQUE_CALLS = ("allow_in_graph", "assume_constant_result", "nonstrict_trace")
_ON_OPERATORS = frozenset(
    {"register_fake", "register_autograd", "register_kernel", "impl_abstract", "register_vmap"}
)
"""Methods of a custom operator that decorate code run outside of tracing."""
_DISABLES = "disables compiling"


class Boundaries:
    """Judges functions, and remembers."""

    def __init__(self, project: Project, options: RegionOptions) -> None:
        self._project = project
        self._options = options
        self._disabling = Disabling(project, options).kind
        self._known: dict[FunctionRef, tuple[str, str]] = {}
        self._operators: dict[FunctionRef, bool] = {}

    def of(self, ref: FunctionRef) -> str:
        """`stop` at disabled and opaque code, `skip` for a function whose callees alone are traced."""
        return self.reason(ref)[0]

    def reason(self, ref: FunctionRef) -> tuple[str, str]:
        """The kind of boundary, empty for none, and what makes it one."""
        if ref not in self._known:
            self._known[ref] = self._judge(ref)
        return self._known[ref]

    def disables(self, ref: FunctionRef) -> bool:
        """Whether a decorator disables compiling: the graph breaks at the call."""
        return self.of(ref) == "stop" and self.reason(ref)[1].endswith(_DISABLES)

    def doubts(self, ref: FunctionRef) -> bool:
        """Whether a decorator keeps the function out for some of its calls only."""
        function = self._project.function(ref)
        where = function.outer or MODULE_KEY
        return any(
            self._disabling(decorator, ref.path, where) == "doubt" for decorator in function.decorators
        )

    def _judge(self, ref: FunctionRef) -> tuple[str, str]:
        project = self._project
        function = project.function(ref)
        owner = ClassRef(ref.path, function.owner) if function.owner is not None else None
        marked = {marker.key for marker in project.files[ref.path].markers if marker.kind == "eager"}
        if ref.key in marked or (owner is not None and owner.key in marked):
            return "stop", "a `# dynamo-lint: eager` comment excludes it"
        cut = self._options.cut
        if cut and (matches(project, ref, cut) or (owner is not None and matches(project, owner, cut))):
            return "stop", "`not-regions` excludes it"
        if is_empty(function) or is_left_to_heirs(project, ref):
            return "skip", "it is abstract: the overrides of its subclasses run instead"
        if ref in self._kept_out():
            return "stop", "a call keeps Dynamo from tracing it"
        for decorator in function.decorators:
            kind = self._disabling(decorator, ref.path, function.outer or MODULE_KEY)
            if kind in ("stop", "skip"):
                return kind, f"its decorator {_DISABLES}{' for this function only' if kind == 'skip' else ''}"
            if self._is_opaque(decorator, ref.path, function.outer or MODULE_KEY):
                return "stop", "its decorator keeps Dynamo from tracing it"
        if owner is not None:
            class_ = project.class_(owner)
            for decorator in class_.decorators:
                kind = self._disabling(decorator, owner.path, class_.outer or MODULE_KEY)
                if kind in ("stop", "skip"):
                    return kind, f"a decorator of its class {_DISABLES}"
                # An nn.Module class stays in the region (checked with torch 2.13), a Function does not.
                opaque = self._is_opaque(decorator, owner.path, class_.outer or MODULE_KEY)
                if opaque and not project.is_module(owner):
                    return "stop", "a decorator of its class keeps Dynamo from tracing it"
        return "", ""

    def _kept_out(self) -> frozenset[Symbol]:
        """The functions that `allow_in_graph(function)` and its like are called with."""
        key = "kept out"
        memo = self._project.memo
        if key not in memo:
            memo[key] = frozenset(
                symbol
                for name in _OPAQUE_CALLS
                for where, site in self._project.calls_of(name)
                if site.call.arguments and self._is_opaque(site.call.function, where.path, where.key)
                for symbol in self._project.symbols(site.call.arguments[0], where.path, where.key)
            )
        return memo[key]  # type: ignore[return-value]

    def _is_opaque(self, decorator: Expr, path: str, where: str) -> bool:
        callee = decorator.function if isinstance(decorator, facts.Call) else decorator
        symbols: tuple[Symbol, ...] = self._project.symbols(callee, path, where)
        if isinstance(callee, facts.Attribute) and callee.name in _ON_OPERATORS:
            return True
        own = (s for s in symbols if isinstance(s, FunctionRef))
        known = any(isinstance(s, External) and s.dotted in _OPAQUE for s in symbols)
        return known or any(map(self._makes_operators, own))

    def _makes_operators(self, decorator: FunctionRef) -> bool:
        """Whether a decorator of ours makes custom operators, with what it is put around in them."""
        functions = self._project.files[decorator.path].functions
        if decorator not in self._operators:
            within = [key for key in functions if FunctionRef(decorator.path, key).stands_in(decorator)]
            self._operators[decorator] = any(
                isinstance(made, External) and made.dotted in _OPERATORS
                for key in (decorator.key, *within)
                for site in functions[key].calls
                for made in self._project.symbols(site.call.function, decorator.path, key)
            )
        return self._operators[decorator]
