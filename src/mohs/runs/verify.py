"""`mohs verify`: check certificates of `mohs radius` by asking the victim again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.runs.settings import VictimSettings
from mohs.tasks.option import check_numbers, option

if TYPE_CHECKING:
    from mohs.bounds import Certificate, Checked


@dataclass(frozen=True, kw_only=True)
class Verify:
    """Check certificates of `mohs radius` against a victim, completely or on a random sample.

    The exit code is 1 if a certificate is wrong, and 3 if none is wrong but some do not say how their space was built.

    Examples:
      mohs verify mohs-runs/RUN
      mohs verify certificates.jsonl --victim hf:./my-model --sample 1000
    """

    certificates: str | Path = option(
        "A run folder, or a .json or .jsonl file of certificates.", metavar="CERT", argument=True
    )
    sample: int | None = option(
        "Ask about N random texts of each level (number of substitutions) instead of all.", metavar="N", least=1
    )
    bounds: bool = option(
        "Use a bound again for the texts that a bound proved, or ask about them too.",
        "--bounds/--no-bounds",
        default=True,
    )
    seed: int | None = option("Random seed of the sample; by default a new sample each time.")
    rebuild: bool = option(
        "Build every space again from what its certificate says, and compare; finds words that were left out. A class "
        "in a file that it names (FILE.py:CLASS) runs only with --trust-code.",
        default=False,
    )
    accept_old: bool = option(
        "Let certificates of older versions pass, which do not say how their space was built.", default=False
    )
    example: str | None = option("Check only the certificate of this example.", metavar="ID")

    def run(self, settings: VictimSettings) -> list[tuple[Certificate, Checked]]:
        """Each certificate with the result of checking it."""
        from mohs.bounds import Points, check
        from mohs.engine import Service
        from mohs.models.sheets import sheets_of
        from mohs.models.victim import service_of, traits_of
        from mohs.runs.subject import victim_of
        from mohs.space import Services, Space
        from mohs.tasks.subject import answered

        check_numbers(self)
        found = _certificates(Path(self.certificates))
        if self.example is not None:
            found = [certificate for certificate in found if certificate.example == self.example]
            if not found:
                raise BadInput(f"{self.certificates} has no certificate for the example {self.example!r}.")
        model = victim_of(settings)
        final = traits_of(model).verdict or model
        judge, many, sheets = service_of(final, judge=True), service_of(final), sheets_of(final)
        alone: Service[Any, Any] = Service(final, alone=True, together=traits_of(final).together)

        def points(space: Space) -> Points:
            return Points(space, many, judge, final, sheets, alone)

        nobody = Services({}, Random(0))
        checks = [
            answered(
                check(one, model, points, judge, self.sample, self.bounds, self.seed, self.accept_old),
                nobody,
                judge,
                many,
                sheets,
                alone,
            )
            for one in found
        ]
        if self.rebuild:
            from mohs.runs.rebuild import Rebuild

            rebuild = Rebuild(model, settings)
            checks = [
                rebuild(one, checked) if checked.sound else checked for one, checked in zip(found, checks, strict=True)
            ]
        return list(zip(found, checks, strict=True))


def verify(
    certificates: str | Path,
    victim: Any,
    *,
    sample: int | None = None,
    bounds: bool = True,
    seed: int | None = None,
    example: str | None = None,
    rebuild: bool = False,
    accept_old: bool = False,
    **settings: Any,
) -> list[tuple[Certificate, Checked]]:
    """Check certificates by asking the victim again about every text, or about `sample` texts of each level.

    Gives each certificate with the result (`sound`, `why`).

    certificates: a run folder, or a file.
    bounds: use a bound again for the texts that a bound proved; False: ask about them too.
    seed: of the sample; by default a new sample each time.
    rebuild: build every space again from what its certificate says, and compare. A class in a file that it names runs
    only with trust_code.
    accept_old: let certificates of older versions pass, which do not say how their space was built.
    The other arguments are for loading the victim: device, labels, victim_options, trust_pickle, trust_code.
    """
    asked = Verify(
        certificates=certificates,
        sample=sample,
        bounds=bounds,
        seed=seed,
        example=example,
        rebuild=rebuild,
        accept_old=accept_old,
    )
    return asked.run(VictimSettings(victim=victim, **settings))


def _certificates(path: Path) -> list[Certificate]:
    from mohs.bounds import Certificate, read_certificates
    from mohs.runs.run import Run

    if not path.is_dir():
        return read_certificates(path)
    with Run.open(path) as run:
        if run.command != "radius":
            raise BadInput(f"{path} is a run of `mohs {run.command}`; certificates come from runs of `mohs radius`.")
        rows = [row["certificate"] for row in run.radii() if "certificate" in row]
    if not rows:
        raise BadInput(f"{path} has no certificates: no proof succeeded, or none is finished yet.")
    return [Certificate.from_json(row) for row in rows]
