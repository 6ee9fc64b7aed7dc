"""Defences written without a victim, such as `ensemble(n=8)`, to be put around one with a key.

- `ensemble(n=8)` or `ensemble`: around the victim that is given
- `masking(ensemble(n=4))`: a defence around a defence around it
- `ensemble(hf:./model)`: names a victim of its own
- `mean(hf:B)`: the mean with one more victim; `mean(ensemble, masking)`: of two defended victims
"""

from __future__ import annotations

from mohs.defences.written import DEFENCES, NAMES, is_defended, parts_of
from mohs.errors import BadInput
from mohs.text.addresses import without_credentials


def around(pattern: str, victim: str, key: int) -> str:
    """The defended victim as written on the command line: a pattern around a victim, with this key throughout.

    The victim's own name stays as it is: if it is a defended one, it keeps its key.
    """
    name, victims, given = _parts(pattern)
    if name == "mean":
        inside = [_inner(one, victim, key) for one in victims]
        inside = inside if len(inside) > 1 else [victim, *inside]
    else:
        inside = [_inner(one, victim, key) for one in victims] or [victim]
    settings = dict(given) | ({"key": str(key)} if _draws(name) else {})
    return f"{name}({', '.join([*inside, *(f'{k}={v}' for k, v in settings.items())])})"


def draws(pattern: str) -> bool:
    """Whether a pattern has any randomness, so that another key gives another draw."""
    name, victims, _ = _parts(pattern)
    return _draws(name) or any(draws(one) for one in victims if _is_pattern(one))


def _inner(part: str, victim: str, key: int) -> str:
    return around(part, victim, key) if _is_pattern(part) else part


def _is_pattern(part: str) -> bool:
    return part.strip() in NAMES or is_defended(part)


def _draws(name: str) -> bool:
    return name in DEFENCES and bool(getattr(DEFENCES[name], "draws", True))


def _parts(pattern: str) -> tuple[str, list[str], dict[str, str]]:
    """The name of a pattern, the victims in it, and its settings."""
    pattern = pattern.strip()
    shown = without_credentials(pattern)
    if not _is_pattern(pattern):
        raise BadInput(f"{shown!r} is no defence; write one of {', '.join(NAMES)}, such as ensemble(n=8).")
    name, bracket, rest = pattern.partition("(")
    if bracket and not rest.endswith(")"):
        raise BadInput(f"The defence {shown!r} has no closing bracket at its end; write {name.strip()}(NAME=VALUE).")
    victims, given = parts_of(shown, rest[:-1]) if bracket else ([], {})
    if "key" in given:
        raise BadInput(f"The defence {shown!r} has a key, but it is judged with several; leave key= out.")
    return name.strip(), victims, given
