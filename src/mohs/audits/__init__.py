"""Audits: finished adversarial examples, measured on every class of constraints (Morris et al. 2020)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
