"""mohs: a hardness scale for text classifiers.

Everything is imported on first use, so that `import mohs` and `mohs --help` answer at once; what there is stands in
__init__.pyi beside this file.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
