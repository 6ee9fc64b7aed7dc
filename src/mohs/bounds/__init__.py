"""Robustness radius (Yang et al. 2022): from above by attacks, from below by proof, and the share that holds beyond."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
