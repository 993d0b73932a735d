"""dynamo-lint: which line of Python will make torch.compile recompile, run eagerly or go stale."""

__version__ = "0.1.0"
