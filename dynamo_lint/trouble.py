"""What a person must put right, in one line: the command line prints it and exits 2."""


class Trouble(Exception):
    """Something that cannot be used or done; the text says what and where, and what to do."""
