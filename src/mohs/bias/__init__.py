"""Counterfactual bias: how a victim's prediction changes on average when one word of a pair replaces the other."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
