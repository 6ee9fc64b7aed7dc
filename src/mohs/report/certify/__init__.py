"""The report of a certify run."""
