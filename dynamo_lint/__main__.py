"""`python -m dynamo_lint` is `dynamo-lint`."""

import os
import sys
from contextlib import suppress

if __name__ == "__main__":
    # Python puts the current folder first on the path, and a project may have a click.py of its own.
    with suppress(OSError):  # the folder does not exist any more: nothing can be imported from it
        if sys.path and sys.path[0] in ("", os.getcwd()):
            del sys.path[0]

    from dynamo_lint.cli import main

    main()
