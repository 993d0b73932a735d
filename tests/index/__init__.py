"""Tests of `index`: one file of Python, YAML or JSON as facts."""
