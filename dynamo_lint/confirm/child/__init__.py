"""The half of `confirm` that imports torch; it needs torch and the standard library alone."""
