"""Second-order robustness (Zhang et al. 2021): natural neighbours of a text whose prediction one synonym changes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
