"""`dynamo-lint config-schema`: the configuration as a JSON Schema."""

from __future__ import annotations

from pathlib import Path

import click

from dynamo_lint.commands import common
from dynamo_lint.commands.help import SectionedCommand


@click.command("config-schema", cls=SectionedCommand)
@common.output_file_option("the schema")
def config_schema(output_file: Path | None) -> None:
    """Print a JSON Schema of the configuration, for editors."""
    import json

    from dynamo_lint.commands.output import deliver
    from dynamo_lint.config_schema import schema

    deliver(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n", output_file)
