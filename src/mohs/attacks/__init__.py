"""One file a method: a search for one example, over a space."""

from mohs.attacks.goal import Below, Goal, Targeted, Untargeted
from mohs.attacks.random_words import RandomWords
from mohs.attacks.textfooler import TextFooler

__all__ = ["Below", "Goal", "RandomWords", "Targeted", "TextFooler", "Untargeted"]
