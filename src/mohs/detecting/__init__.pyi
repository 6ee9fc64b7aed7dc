from .api import detect as detect
from .result import Detection as Detection
from .roc import Area as Area
from .settings import Detecting as Detecting
