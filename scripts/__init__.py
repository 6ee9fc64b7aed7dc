"""What builds the files that ship with the package."""
