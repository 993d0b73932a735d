"""Tests of `models`: what libraries build, compile and call."""
