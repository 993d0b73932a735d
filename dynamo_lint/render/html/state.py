"""The page of `regions --state`: what compiled code reads, and what shows that it stays what it is."""

from __future__ import annotations

from dynamo_lint.render.account import Account
from dynamo_lint.render.html.page import page
from dynamo_lint.render.regions import place
from dynamo_lint.terminal import Look


def page_of(account: Account, look: Look) -> str:
    """The whole page."""
    count = account.counts
    facts = [("Values read", "read"), ("Never change", "never_change"), ("May change", "may_change")]
    facts += [("Changed between calls", "changed"), ("Findings about them", "findings")]
    return page(
        "state.jinja",
        title="State that compiled code reads",
        verdict=f"{account.summary}.",
        facts=tuple((name, f"{count[key]:,}") for name, key in facts),
        regions=tuple(account.by_region()),
        told=lambda path, line: look.place(path, int(line)),
        place=place,
    )
