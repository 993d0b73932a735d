"""Tests of `program`: files linked by imports, names, classes and roles."""
