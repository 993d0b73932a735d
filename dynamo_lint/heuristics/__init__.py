"""Guesses by name, each apart from what is proven and with a measured worth."""
