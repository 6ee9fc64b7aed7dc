"""The views of attack runs."""
