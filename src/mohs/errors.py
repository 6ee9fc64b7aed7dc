"""What goes wrong, as one small tree.

MohsError            a user's mistake or a broken part: one sentence with the value and the remedy
├── BadInput         data, options or a run folder that cannot be used
├── VictimError      the model under test broke its promise (NaN, wrong width, not probabilities)
└── ServiceFailed    a model stopped answering altogether; everything finished is saved
"""

from __future__ import annotations

import difflib

_FEW = 6  # names in a sentence


class MohsError(Exception):
    """A problem the user can act on; its text is one sentence and is shown without a traceback."""


class BadInput(MohsError):
    """Data, an option or a run folder that cannot be used as it is."""


class VictimError(MohsError):
    """A victim's answer that is not what it declared."""


class ServiceFailed(MohsError):
    """A model that no longer answers anything, which ends the run with all finished work saved."""


def instead(wanted: str, module: object) -> str:
    """What a module, or a class, offers in place of a name that it lacks: the tail of a sentence about that."""
    offered = {name: value for name, value in getattr(module, "__dict__", {}).items() if not name.startswith("_")}
    offered = {name: value for name, value in offered.items() if callable(value)}
    place = getattr(module, "__name__", None)
    own = [name for name, value in offered.items() if getattr(value, "__module__", None) == place]
    names = own or list(offered)  # what it imports is seldom meant
    close = difflib.get_close_matches(wanted, offered, 1)
    guess = f" (did you mean {close[0]!r}?)" if close else ""
    if not names:
        return f"{guess}; it defines nothing that can be called"
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{guess}; it defines {', '.join(names[:_FEW])}{more}"
