"""Whether code is recorded otherwise than by Dynamo: by a CUDA graph, or as the steps of a lazy XLA loop."""

from __future__ import annotations

from dynamo_lint import knowledge
from dynamo_lint.index.ir import Call
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef

GRAPHED = "torch.cuda.make_graphed_callables"
CAPTURES = frozenset({"torch.cuda.graph", "torch.cuda.graphs.graph"})
STEPS = knowledge.names("steps_lazily")


def records(project: Project) -> bool:
    """Whether any code records what it runs."""
    names = CAPTURES | STEPS | {GRAPHED}
    return any(
        means(project, site.call, where, names)
        for name in sorted({one.rpartition(".")[2] for one in names})
        for where, site in project.calls_of(name)
    )


def means(project: Project, call: Call, where: FunctionRef, names: frozenset[str]) -> bool:
    """Whether a call calls something of a library, by its dotted names."""
    symbols = project.symbols(call.function, where.path, where.key)
    return any(isinstance(one, ExternalSymbol) and one.dotted in names for one in symbols)
