"""Published resources that the package does not ship: where they are, and how to get them.

    mohs assets pull wordnet

    import mohs.assets
    folder = mohs.assets.path("wordnet")

Only `pull` uses the network.
"""

from __future__ import annotations

from pathlib import Path

from mohs.assets.folder import assets_folder, read_note, require
from mohs.assets.folder import damage as _damage
from mohs.assets.registry import find, is_asset

__all__ = ["assets_folder", "fingerprint", "installed", "located", "path", "pull"]


def path(name: str) -> Path:
    """The folder of an installed asset. If the asset is missing, BadInput says how to get it."""
    return require(find(name), assets_folder())[0]


def installed(name: str) -> bool:
    """Whether an asset is installed and undamaged."""
    asset, root = find(name), assets_folder()
    note = read_note(asset, root)
    return note is not None and _damage(asset, root, note) is None


def fingerprint(name: str) -> str:
    """A hash of an installed asset's file names and contents. It does not depend on where they came from."""
    return require(find(name), assets_folder())[1].fingerprint


def located(spec: str) -> str:
    """The folder of the asset with this name. An existing path, or any other text, is returned unchanged."""
    if is_asset(spec) and not Path(spec).exists():
        return str(path(spec))
    return spec


def pull(name: str, *, source: Path | None = None, force: bool = False) -> Path:
    """Fetch an asset, or install it from a local folder or file. Returns its folder."""
    from mohs.assets.install import install

    return install(find(name), assets_folder(), source=source, force=force)
