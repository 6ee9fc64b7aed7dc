"""What attack runs have to show."""
