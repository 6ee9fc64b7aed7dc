"""The attacks by name, with their presets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mohs.attacks import adv_fever, distraction, input_reduction, kuleshov, pdp, plugins, scpn, textfooler
from mohs.attacks.a2t import A2T
from mohs.attacks.bae import Bae
from mohs.attacks.beam import Beam
from mohs.attacks.bert_attack import BertAttack
from mohs.attacks.checklist import CheckList, CombinedCheckList
from mohs.attacks.clare import Clare, GreedyClare
from mohs.attacks.comp_attack import CompAttack
from mohs.attacks.deepwordbug import DeepWordBug, GreedyDeepWordBug
from mohs.attacks.faster_genetic import FasterGenetic, faster_genetic_textattack, faster_genetic_without_lm
from mohs.attacks.genetic import Genetic, genetic_adjusted, genetic_paper, genetic_textattack
from mohs.attacks.geometry import Geometry
from mohs.attacks.greedy import Greedy
from mohs.attacks.hotflip import HotFlip
from mohs.attacks.iga import IGA, iga_textattack
from mohs.attacks.labels import keeps_label_of
from mohs.attacks.method import Attack, needs
from mohs.attacks.paraphrase import Paraphrase
from mohs.attacks.pruthi import Pruthi
from mohs.attacks.pwws import PWWS, GreedyPWWS, TaggedSynonyms
from mohs.attacks.random_words import RandomWords
from mohs.attacks.rewriting import Rewriting
from mohs.attacks.sememe_pso import SememePSO, pso_neighbours, pso_textattack
from mohs.attacks.t3 import T3
from mohs.attacks.t3 import leaf as t3_leaf
from mohs.attacks.textbugger import GreedyTextBugger, TextBugger, WhiteBoxTextBugger
from mohs.attacks.textfooler import TextFooler
from mohs.errors import BadInput
from mohs.tasks.described import describe


@dataclass(frozen=True)
class Entry:
    """One row of the table of attacks."""

    name: str
    presets: tuple[str, ...]
    paper: str
    box: str  # black, or white if the attack uses the victim's gradients
    needs: tuple[str, ...]
    cost: str
    about: str
    keeps_label_of: tuple[str, ...] | None = None  # kinds of tasks (see mohs.text.kinds); None if it does not say


# The first preset is the default.
CATALOGUE: Mapping[str, Mapping[str, Callable[[], Attack]]] = {
    "textfooler": {
        "paper": TextFooler,
        "released": textfooler.released,
        "textattack": textfooler.textattack,
        **textfooler.THRESHOLDS,
        "adjusted": textfooler.adjusted,
    },
    "pwws": {
        "paper": PWWS,
        "released": partial(PWWS, source=TaggedSynonyms(), stopwords=frozenset(), entities_alone=True),
        "textattack": GreedyPWWS,
        "cos50": GreedyPWWS.primed,
    },
    "bert-attack": {
        "paper": BertAttack,
        "released": BertAttack.released,
        "released-sentiment": BertAttack.released_sentiment,
        "textattack": BertAttack.textattack,
        "cos50": BertAttack.primed,
    },
    "bae": {
        "paper": Bae,
        "paper-i": Bae.insert,
        "paper-r-or-i": Bae.either,
        "paper-r-and-i": Bae.both,
        "textattack": Bae.textattack,
        "cos50": Bae.primed,
    },
    "clare": {"paper": Clare, "textattack": GreedyClare},
    "a2t": {
        "paper": A2T,
        "paper-mlm": A2T.masked,
        "textattack": A2T,
        "textattack-mlm": A2T.masked,
    },  # both are the same
    "deepwordbug": {"paper": DeepWordBug, "textattack": GreedyDeepWordBug},
    "textbugger": {"paper": TextBugger, "textattack": GreedyTextBugger},
    "textbugger-white": {"paper": WhiteBoxTextBugger},
    "genetic": {
        "no-lm": Genetic,
        "paper": genetic_paper,
        "textattack": genetic_textattack,
        "adjusted": genetic_adjusted,
    },
    "faster-genetic": {
        "no-lm": faster_genetic_without_lm,
        "paper": FasterGenetic,
        "textattack": faster_genetic_textattack,
    },
    "iga": {"paper": IGA, "textattack": iga_textattack},
    "sememe-pso": {"paper": SememePSO, "neighbours": pso_neighbours, "textattack": pso_textattack},
    "pdp": {
        "paper": pdp.PDP,
        "released": pdp.released,
        "released-unreverted": pdp.unreverted,
        "gradients": pdp.gradients,
    },
    "hotflip": {"paper": HotFlip},
    "geometry": {"paper": Geometry, "neighbours": Geometry.neighbours},
    "comp-attack": {
        "paper": CompAttack,
        "typo": CompAttack.typo,
        "knowledge": CompAttack.knowledge,
        "context": CompAttack.context,
    },
    "kuleshov": {"no-lm": kuleshov.Kuleshov, "paper": kuleshov.paper, "textattack": kuleshov.textattack},
    "checklist": {"paper": CheckList, "textattack": CombinedCheckList},
    "distraction": {
        "paper": distraction.Distraction,
        "stresstest": distraction.stresstest,
        "checklist": distraction.checklist,
    },
    "scpn": {"rules": scpn.Scpn, "paper": scpn.paper},
    "adv-fever": {"paper": adv_fever.AdvFever, "entities": adv_fever.entities},
    "paraphrase": {"plain": Paraphrase},
    "input-reduction": {
        "paper": input_reduction.InputReduction,
        "greedy": input_reduction.greedy,
        "textattack": input_reduction.RankedInputReduction,
    },
    "greedy": {"plain": Greedy},
    "beam": {"plain": Beam},
    "pruthi": {"paper": Pruthi, "textattack": partial(Pruthi, words=1)},
    "t3": {"root": T3, "leaf": t3_leaf},
    "rewriting": {"plain": Rewriting},
    "random": {"baseline": RandomWords},
}

# Attacks run one after the other on the examples that resisted. Strongest first, as in docs/reproductions.md.
BATTERIES: Mapping[str, tuple[str, ...]] = {"standard": ("textfooler", "textbugger:textattack", "faster-genetic")}


def each_of(attacks: str | Attack | Sequence[str | Attack]) -> Sequence[str | Attack]:
    """The attacks of an option: one name, one object, or several of both."""
    found = [attacks] if isinstance(attacks, str) or not isinstance(attacks, Iterable) else list(attacks)
    for one in found:
        if isinstance(one, type):
            raise BadInput(f"{one.__name__} is a class; give an attack of it: {one.__name__}().")
        if not isinstance(one, str) and not callable(one):
            raise BadInput(f"{one!r} is no attack; give a name (see `mohs attacks`) or an attack object.")
    return found


def members_of(spec: Any) -> tuple[str, tuple[tuple[str, Attack], ...]]:
    """The name and the attacks behind a name, a battery's name or an attack object."""
    if not isinstance(spec, str):
        return name_of(spec), ((name_of(spec), spec),)
    if spec in BATTERIES:
        return spec, tuple(find_attack(member) for member in BATTERIES[spec])
    name, attack = find_attack(spec)
    return name, ((name, attack),)


def find_attack(spec: str) -> tuple[str, Attack]:
    """The full name and the attack for `name`, `name:preset`, `path/to/file.py:CLASS` or the name of a plug-in."""
    if spec.rpartition(":")[0].endswith(".py"):
        return spec, plugins.from_file(spec)
    name, _, preset = spec.partition(":")
    if "+fair" in spec:
        raise BadInput(
            f"{spec!r} has +fair in the wrong place or twice; write it once, at the end: textfooler:paper+fair."
        )
    if name not in CATALOGUE:
        others = plugins.installed()
        if spec in others:
            return spec, plugins.from_plugin(others[spec])
        known = ", ".join([*BATTERIES, *CATALOGUE, *others])
        raise BadInput(f"Unknown attack {name!r}; there are {known} (see `mohs attacks`).")
    presets = CATALOGUE[name]
    preset = preset or next(iter(presets))
    if preset not in presets:
        raise BadInput(f"{name} has no preset {preset!r}; it has {', '.join(presets)}.")
    return f"{name}:{preset}", presets[preset]()


def name_of(attack: Any) -> str:
    """The catalogue's name of an attack object, or its class with the fields that differ from the defaults."""
    for name, presets in CATALOGUE.items():
        for preset, make in presets.items():
            if make() == attack:
                return f"{name}:{preset}"
    return describe(attack, defaults=False)


def entries() -> list[Entry]:
    """All attacks, for `mohs attacks`."""
    found = []
    listed = {name: (tuple(presets), next(iter(presets.values()))()) for name, presets in CATALOGUE.items()}
    for name, entry in plugins.installed().items():
        listed.setdefault(name, (("plug-in",), plugins.from_plugin(entry)))
    for name, (presets, attack) in listed.items():
        about = (type(attack).__doc__ or "").strip().split("\n")[0]
        wanted = (
            "scores" if attack.needs_scores else "labels only",
            *(kind.replace("_", " ") for kind in needs(attack)),
        )
        box = "white" if "gradients" in wanted else "black"
        paper, cost = getattr(attack, "paper", "-"), getattr(attack, "cost", "-")
        keeps = keeps_label_of(attack)
        kinds = None if keeps is None else tuple(sorted(keeps))
        found.append(Entry(name, presets, paper, box, wanted, cost, about, kinds))
    return found
