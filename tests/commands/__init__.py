"""Tests of `commands`: the command line."""
