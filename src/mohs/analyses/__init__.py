"""Analyses of finished attacks as in Hauser 2021 ("BERT is Robust!"): words, similarities and layers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
