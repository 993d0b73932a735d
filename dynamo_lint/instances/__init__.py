"""Differences between the instances of a class that is compiled once per instance."""
