from .api import compare as compare
from .fairness import PairedFair as PairedFair
from .figures import Against as Against
from .figures import Row as Row
from .result import Comparison as Comparison
from .settings import Comparing as Comparing
from .sides import Side as Side
from .training_time import TrainingTime as TrainingTime
