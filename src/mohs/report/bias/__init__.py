"""What bias runs have to show: one, or two side by side."""
