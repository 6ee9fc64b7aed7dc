"""Addresses of endpoints without the credentials in them: what may be stored and printed."""

from __future__ import annotations

import hashlib
import re
from typing import Any

HIDDEN = "***"

# What stands before a host (user:password@), up to the last @ before the path.
# One slash: an address that was taken for the path of a file.
_USER = re.compile(r"(?i)(\b(?:https?|postgres(?:ql)?)://?)[^/?#\s]*@")
# A value ends before the comma or bracket of a defence around the address.
_PARAMETER = re.compile(r"([?&;#])([^=&;#\s]*)=([^&;#\s]+?)(?=[,)]*(?:[&;#\s]|$))")
_TELLING = re.compile(r"(?i)key|token|secret|pass|pwd|auth|sig|cred|code|session|access|jwt|bearer|login|user")
_RANDOM = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~%+/=-]{20,}")  # what no one would give a plain setting as


def without_credentials(text: Any) -> Any:
    """A string with the credentials in its web addresses replaced by `***`; anything else as it is.

    Credentials are what stands before the host, and the parameters whose name tells so or whose value looks random.
    """
    if not isinstance(text, str) or ":/" not in text:
        return text
    return _PARAMETER.sub(_hidden, _USER.sub(rf"\1{HIDDEN}@", text))


def lacks_credentials(address: str) -> bool:
    """Whether an address comes from a place where its credentials were left out, such as a manifest."""
    return f"/{HIDDEN}@" in address or any(found[3] == HIDDEN for found in _PARAMETER.finditer(address))


def endpoint_fingerprint(address: str, output: str) -> str:
    """The fingerprint of an endpoint: a hash of its address and of what it gives, which is all that can be seen."""
    return hashlib.sha256(f"{address} {output}".encode()).hexdigest()[:16]


def _hidden(found: re.Match[str]) -> str:
    secret = _TELLING.search(found[2]) or _RANDOM.fullmatch(found[3])
    return f"{found[1]}{found[2]}={HIDDEN}" if secret else found[0]
