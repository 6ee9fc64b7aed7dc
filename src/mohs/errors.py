"""The exceptions of mohs, as one small tree.

MohsError            a user's mistake or a broken part: one sentence with the value and the remedy
├── BadInput         data, options or a run folder that cannot be used
├── VictimError      the model under test returned something invalid (NaN, wrong width, not probabilities)
└── ServiceFailed    a model stopped answering altogether; everything finished is saved
"""

from __future__ import annotations

import difflib

_NAMES_SHOWN = 6


class MohsError(Exception):
    """A problem the user can act on; its text is one sentence and is shown without a traceback."""


class BadInput(MohsError):
    """Data, an option or a run folder cannot be used."""


class VictimError(MohsError):
    """A victim's answer does not match what the victim declared."""


class ServiceFailed(MohsError):
    """A model stopped answering. The run ends, and all finished work is saved."""


def instead(wanted: str, module: object) -> str:
    """The end of a message about a missing name: what the module or class offers instead."""
    offered = {name: value for name, value in getattr(module, "__dict__", {}).items() if not name.startswith("_")}
    offered = {name: value for name, value in offered.items() if callable(value)}
    place = getattr(module, "__name__", None)
    own = [name for name, value in offered.items() if getattr(value, "__module__", None) == place]
    names = own or list(offered)  # imported names are rarely what the user meant
    close = difflib.get_close_matches(wanted, offered, 1)
    guess = f" (did you mean {close[0]!r}?)" if close else ""
    if not names:
        return f"{guess}; it defines nothing that can be called"
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"{guess}; it defines {', '.join(names[:_NAMES_SHOWN])}{more}"
