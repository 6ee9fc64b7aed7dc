"""How well detectors tell adversarial texts of finished runs from originals: ROC curves and their areas."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
