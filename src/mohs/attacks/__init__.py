"""One file a method: a search for one example, over a space. Every attack is importable from here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
