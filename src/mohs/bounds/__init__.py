"""Robustness radius (Yang et al. 2022): an upper bound by attack, a lower bound by proof, and shares beyond it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
