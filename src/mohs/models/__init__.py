"""Victims and encoders: load them, and answer a batch."""
