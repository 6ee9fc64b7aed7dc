"""What second-order runs have to show."""
