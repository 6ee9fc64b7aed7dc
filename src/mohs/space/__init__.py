"""The edits that exist for an example: sources of words, constraints, and the space they make."""

from mohs.space.acceptable import Acceptable
from mohs.space.constraints import Constraint, Family, Measure
from mohs.space.distractions import Links, Tautologies
from mohs.space.extent import EditDistance, PositionsAgain, ShareChanged, WordsBeyond, WordsChanged
from mohs.space.fair import FAIR
from mohs.space.fever import Fever
from mohs.space.fluency import FluencyRank, GrammarErrors, LogProbDrop, Perplexity, PerplexityRatio
from mohs.space.letters import AddLetter, ChangeLetter, DropLetter, Homoglyphs, Keyboard, SplitWord, SwapLetters
from mohs.space.masked import MaskedWords, UnmaskedWords
from mohs.space.paraphrase import Paraphrase, Scpn
from mohs.space.rewrites import Rewriter
from mohs.space.sentence import BertScore, SentenceSimilarity
from mohs.space.services import Services
from mohs.space.sources import Listed, Neighbours, OneOf, Sememes, Source, Synonyms, Union
from mohs.space.space import Space, build_space
from mohs.space.syntax import Syntax
from mohs.space.word_measures import Antonyms, PosListed, SamePos, WordCosine, WordDistance
from mohs.space.written import parse_constraint, parse_measure, parse_source, word_source

__all__ = [
    "FAIR",
    "Acceptable",
    "AddLetter",
    "Antonyms",
    "BertScore",
    "ChangeLetter",
    "Constraint",
    "DropLetter",
    "EditDistance",
    "Family",
    "Fever",
    "FluencyRank",
    "GrammarErrors",
    "Homoglyphs",
    "Keyboard",
    "Links",
    "Listed",
    "LogProbDrop",
    "MaskedWords",
    "Measure",
    "Neighbours",
    "OneOf",
    "Paraphrase",
    "Perplexity",
    "PerplexityRatio",
    "PosListed",
    "PositionsAgain",
    "Rewriter",
    "SamePos",
    "Scpn",
    "Sememes",
    "SentenceSimilarity",
    "Services",
    "ShareChanged",
    "Source",
    "Space",
    "SplitWord",
    "SwapLetters",
    "Synonyms",
    "Syntax",
    "Tautologies",
    "Union",
    "UnmaskedWords",
    "WordCosine",
    "WordDistance",
    "WordsBeyond",
    "WordsChanged",
    "build_space",
    "parse_constraint",
    "parse_measure",
    "parse_source",
    "word_source",
]
