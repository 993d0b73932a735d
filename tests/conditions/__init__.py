"""Tests of `conditions`: which branches run, told by arguments, constructors and tests."""
