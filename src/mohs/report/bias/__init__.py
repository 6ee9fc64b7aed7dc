"""The views of bias runs: one run, or two side by side."""
