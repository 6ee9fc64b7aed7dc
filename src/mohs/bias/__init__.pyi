from .pairs import GROUPS as GROUPS
from .pairs import Pairs as Pairs
from .pairs import read_pairs as read_pairs
from .statistics import PairBias as PairBias
from .statistics import pair_biases as pair_biases
from .task import BiasTask as BiasTask
