"""Tests of `state`: what compiled functions read and write."""
