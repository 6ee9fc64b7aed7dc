from .pairs import GROUPS as GROUPS
from .pairs import Pairs as Pairs
from .pairs import read_pairs as read_pairs
from .statistics import PairBias as PairBias
from .statistics import pair_biases as pair_biases
from .task import BiasTask as BiasTask
from .words import label_counts as label_counts
from .words import word_biases as word_biases
