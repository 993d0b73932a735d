"""dynamo-lint: which line of Python will make torch.compile recompile, run eagerly or go stale."""

__version__ = "0.1.0"

REPOSITORY = "https://github.com/dynamo-lint/dynamo-lint"
"""Where the project lives; links to its pages start with this."""
