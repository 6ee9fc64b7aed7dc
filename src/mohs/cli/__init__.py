"""The command line: wiring only."""

from mohs.cli.main import main

__all__ = ["main"]
