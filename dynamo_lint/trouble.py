"""The exception for all that a person must put right: the command line prints it in one line and exits 2."""


class Trouble(Exception):
    """Something that cannot be used or done; the text says what and where, and what to do."""
