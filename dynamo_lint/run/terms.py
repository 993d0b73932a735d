"""The terms of a contract that a file states for itself, in comments before its first statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dynamo_lint.contract import Contract, read_contract
from dynamo_lint.program.project import Project


def own_contracts(contract: Contract, project: Project) -> Iterator[tuple[str, Contract]]:
    """The files that say something for themselves, each with the contract that holds in it.

    A comment that is no term of a contract is somebody else's, and means nothing.
    """
    for path, terms in project.named("terms").get("", ()):
        own = contract
        for line in terms:
            own = _with_term(own, line)
        if own != contract:
            yield path, own


def _with_term(contract: Contract, line: str) -> Contract:
    from dynamo_lint.toml import tomllib

    try:
        raw = tomllib.loads(line)
        read = read_contract(raw)
    except ValueError:  # of TOML, too
        return contract
    names = [key.replace("-", "_") for key in raw]
    return replace(contract, **{name: getattr(read, name) for name in names})
