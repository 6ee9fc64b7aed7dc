"""Judging defences at answer time on finished attacks: reverted attacks, adaptive attacks, and fresh randomness."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
