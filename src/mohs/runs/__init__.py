"""Turns a verb's options into a finished run: settings, subject, services, job, workers, the loop, and `Run`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
