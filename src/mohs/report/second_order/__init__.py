"""The views of second-order runs."""
