"""Defences at answer time: victims around victims, which answer by several versions of a text, or may reject it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
