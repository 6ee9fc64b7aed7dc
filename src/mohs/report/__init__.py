"""Turns records into figures, and figures into tables and pages. Each verb has a folder; shared code is beside them."""
