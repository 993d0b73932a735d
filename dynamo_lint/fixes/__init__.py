"""Edits that end findings: what to write instead, whether it is safe, and how it gets into the files."""
