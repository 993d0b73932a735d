"""`python -m dynamo_lint` is `dynamo-lint`."""

from dynamo_lint.cli import main

if __name__ == "__main__":
    main()
