"""Tests of `heuristics`: guesses by name."""
