"""Certified accuracy beside accuracy under attack: what no text of a space can change, and what an attack can."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
