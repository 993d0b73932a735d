"""The settings of a contract that the code of a project makes, read as `check` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.doctor.look import SetInCode
from dynamo_lint.models.settings import name_today, settings_made
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.project import Project
from dynamo_lint.regions.options import matches
from dynamo_lint.run.reading import read_content, read_facts
from dynamo_lint.sources import Sources
from dynamo_lint.state.expressions import constant
from dynamo_lint.terminal import numbered


def settings_in_code(settings: Settings) -> tuple[SetInCode, ...] | None:
    """Where code below the configuration gives settings a value, tests left out; None where there is none."""
    home, contract = settings.home, settings.contract
    found = discover((home,), [(home, settings.exclude), (home, settings.extend_exclude)])
    if not found.files:
        return None
    sources = Sources(found.root)
    words = (b"torch._", *(name.rpartition(".")[2].encode() for name, _ in contract.settings))
    paths = tuple(path for path in found.files if not in_tests(path) and _holds(sources, path, words))
    project = Project(
        read_facts(read_content(None, replace(found, files=paths, launchers=()), sources), sources)
    )
    return tuple(_made(project, sources, (contract.settings_site,) if contract.settings_site else ()))


def _holds(sources: Sources, path: str, words: tuple[bytes, ...]) -> bool:
    """Whether a file says one of some words."""
    try:
        text = sources.raw(path)
    except OSError:
        return False
    return any(word in text for word in words)


def _made(project: Project, sources: Sources, site: tuple[str, ...]) -> Iterator[SetInCode]:
    for one in settings_made(project):
        path, line = one.where.path, one.line
        if one.stored and one.span is None:
            known = constant(project, one.value, one.where)
            yield SetInCode(
                name=name_today(f"{one.module}.{one.name}"),
                value=known.value if known is not None else None,
                place=f"{path}:{numbered(sources.cell(path, line), line)}",
                at_site=matches(project, one.where, site)
                and not project.function(one.where).is_conditional(one.line),
            )
