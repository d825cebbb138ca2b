"""`python -m heelstrike` is the command `heelstrike`."""

from heelstrike.cli import main

if __name__ == "__main__":
    main()
