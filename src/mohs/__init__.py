"""mohs: a hardness scale for text classifiers.

Everything is imported on first use, so that `import mohs` and `mohs --help` answer at once; what there is stands in
__init__.pyi beside this file.
"""

import os
import sys

# When `python -m mohs` starts, Python has put the current folder first, where files of others may lie.
_starting = sys.argv[:1] == ["-m"] and ("-m", __name__) in zip(sys.orig_argv, sys.orig_argv[1:], strict=False)
if _starting and sys.path and sys.path[0] == os.getcwd():
    sys.path.append(sys.path.pop(0))

import lazy_loader  # noqa: E402

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
