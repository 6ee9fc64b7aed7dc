"""Counterfactual bias: how a victim's expected answer moves when one word of a pair stands for the other."""

from mohs.bias.pairs import GROUPS, Pairs, read_pairs
from mohs.bias.statistics import PairBias, pair_biases
from mohs.bias.task import BiasTask

__all__ = ["GROUPS", "BiasTask", "PairBias", "Pairs", "pair_biases", "read_pairs"]
