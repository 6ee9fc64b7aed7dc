"""The list of verbs. One line registers a verb and the view that shows its runs."""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.tasks.plan import Verb

_VERBS: dict[str, tuple[Any, Any]] = {  # by command: the verb and its view, imported when needed
    "attack": ("mohs.attacks.verb:AttackVerb", "mohs.report.attack.view:AttackView"),
    "second-order": ("mohs.second_order.verb:SecondOrderVerb", "mohs.report.second_order.view:SecondOrderView"),
    "bias": ("mohs.bias.verb:BiasVerb", "mohs.report.bias.view:BiasView"),
    "radius": ("mohs.bounds.verb:RadiusVerb", "mohs.report.radius.view:RadiusView"),
    "certify": ("mohs.certifying.verb:CertifyVerb", "mohs.report.certify.view:CertifyView"),
}


def register(verb: type[Verb], view: type[View]) -> None:
    """Register a verb."""
    _VERBS[verb.command] = (verb, view)


def commands() -> list[str]:
    """The commands of all verbs."""
    return list(_VERBS)


def verb_of(command: str) -> type[Verb]:
    """The verb of a command."""
    found: type[Verb] = _found(command, 0)
    return found


def view_of(command: str) -> type[View]:
    """The view that shows the runs of a command."""
    found: type[View] = _found(command, 1)
    return found


def _found(command: str, place: int) -> Any:
    if command not in _VERBS:
        raise BadInput(
            f"This run was made by `mohs {command}`, which is unknown here; use a version of mohs that has it, or "
            "import the module that defines it first."
        )
    found = _VERBS[command][place]
    return pkgutil.resolve_name(found) if isinstance(found, str) else found
