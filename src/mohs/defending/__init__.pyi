from .api import defend as defend
from .candidates import Candidate as Candidate
from .figures import Adaptive as Adaptive
from .figures import Judged as Judged
from .result import Defended as Defended
from .settings import Defending as Defending
from .spread import Spread as Spread
