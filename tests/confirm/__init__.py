"""Tests of `confirm`: verdicts on findings by running."""
