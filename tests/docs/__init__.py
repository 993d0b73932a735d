"""Tests of the documents: README, documentation and rule pages."""
