"""`python -m mohs`."""

from mohs.cli import main

main()
