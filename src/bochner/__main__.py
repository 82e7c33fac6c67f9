"""`python -m bochner`: the command line."""

from bochner.cli import main

if __name__ == "__main__":
    main()
