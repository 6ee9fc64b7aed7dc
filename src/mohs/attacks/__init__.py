"""Attack methods, one file each. A method searches a space for one example. All attacks can be imported from here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
