"""Remembering what was computed from a file's content, so that an unchanged file is never read twice."""
