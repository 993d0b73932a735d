"""Path conditions: which values pass a test, and which lines never run for an instance or a call."""
