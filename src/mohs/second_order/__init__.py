"""Second-order robustness (Zhang et al. 2021): natural neighbours of a text that one synonym tips over."""

from mohs.second_order.patches import Patch, PatchBook
from mohs.second_order.searches import METHODS, SecondOrder, find_method
from mohs.second_order.task import SecondOrderTask

__all__ = ["METHODS", "Patch", "PatchBook", "SecondOrder", "SecondOrderTask", "find_method"]
