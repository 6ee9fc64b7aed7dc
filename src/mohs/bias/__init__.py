"""Counterfactual bias: how a victim's expected answer moves when one word of a pair stands for the other."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
