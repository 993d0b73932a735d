"""Tests of `calls`: callees, decorators, protocols, hooks and construction."""
