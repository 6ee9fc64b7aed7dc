"""Builds the space of a certificate again, from what the certificate says about it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.models.victim import Victim, service_of
from mohs.runs.settings import VictimSettings
from mohs.space import Constraint, Services, Source, build_space, parse_constraint, word_source
from mohs.space.written import names_code
from mohs.tasks.described import describe
from mohs.tasks.services import fingerprint, load_services
from mohs.tasks.subject import Target, answered
from mohs.text import Example, Text
from mohs.text.stopwords import read_stopwords

if TYPE_CHECKING:
    from mohs.bounds import Certificate, Checked


class Rebuild:
    """Compares certificates with the spaces that their sources give here."""

    def __init__(self, model: Victim, settings: VictimSettings) -> None:
        self._model = model
        self._settings = settings
        self._load = cache(self._loaded)

    def __call__(self, certificate: Certificate, checked: Checked) -> Checked:
        """The result of a check, which fails if the space is another one."""
        built = certificate.built
        if built is None:
            raise BadInput(
                f"The certificate of example {certificate.example} does not say how its space was built; run mohs "
                "radius again, or leave out --rebuild."
            )
        source, constraints, stopwords = self._read(certificate)
        if describe(stopwords) != built["stopwords"][1]:
            return _other(checked, f"its stopwords are {built['stopwords'][1]}, but here {describe(stopwords)}")
        kinds = dict.fromkeys([*source.needs, *(kind for one in constraints for kind in one.measure.needs)])
        if set(kinds) != set(built["resources"]):
            return _other(checked, f"it uses {sorted(built['resources'])}, but its source needs {sorted(kinds)}")
        parts = {kind: self._load(kind, built["resources"][kind][0]) for kind in kinds}
        for kind, part in parts.items():
            if fingerprint(part) != built["resources"][kind][1]:
                return _other(checked, f"its {kind} are {built['resources'][kind][1]}, but here {fingerprint(part)}")
        names = ("text",) if len(certificate.text) == 1 else ("premise", "hypothesis")
        changing = tuple(names[number] for number in built["fields"])
        example = Example(certificate.example, Text(*certificate.text), certificate.label, names, changing)
        service = service_of(self._model)
        target = Target(self._model, service, service, 0, change_placeholders=built["change_placeholders"])
        ask = Services(parts, Random(0))
        space = answered(build_space(example.text, source, constraints, stopwords, target.sees(example), ask), ask)
        for place in sorted({*space.choices, *certificate.choices}):
            one, other = certificate.choices.get(place, ()), space.choices.get(place, ())
            if one != other:
                return _other(checked, f"at position {place} it has {list(one)}, but its source gives {list(other)}")
        return replace(checked, why=f"{checked.why.removesuffix('.')}, and its space is the one that its source gives.")

    def _read(self, certificate: Certificate) -> tuple[Source, tuple[Constraint, ...], frozenset[str]]:
        assert certificate.built is not None
        code = [one for one in (certificate.built["source"], *certificate.built["constraints"]) if names_code(one)]
        if code and not self._settings.trust_code:
            raise BadInput(
                f"The certificate of example {certificate.example} names code to run ({code[0]}); if you trust it, add "
                "--trust-code, or leave out --rebuild."
            )
        try:
            source = word_source(certificate.built["source"])
            constraints = tuple(map(parse_constraint, certificate.built["constraints"]))
            return source, constraints, read_stopwords(certificate.built["stopwords"][0])
        except BadInput as error:
            raise BadInput(
                f"The space of example {certificate.example} cannot be built again: {str(error).rstrip('.')}; "
                "leave out --rebuild."
            ) from error

    def _loaded(self, kind: str, name: str | None) -> Any:
        own = self._settings
        return load_services([kind], {kind: name}, victim=self._model, device=own.device, trust_code=own.trust_code)[
            kind
        ]


def _other(checked: Checked, reason: str) -> Checked:
    return replace(checked, sound=False, whole=False, why=f"Its space is not the one that its source gives: {reason}.")
