"""Benchmarks of one's own: attacks on surrogates, filters, people, and a folder that others can load."""
