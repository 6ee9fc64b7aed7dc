from .patches import Patch as Patch
from .patches import PatchBook as PatchBook
from .searches import METHODS as METHODS
from .searches import SecondOrder as SecondOrder
from .searches import find_method as find_method
from .task import SecondOrderTask as SecondOrderTask
