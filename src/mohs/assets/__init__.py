"""Published resources that the package does not ship: where they are, and how to get them.

    mohs assets pull wordnet

    import mohs.assets
    folder = mohs.assets.path("wordnet")

Nothing here goes to the network except `pull`.
"""

from __future__ import annotations

from pathlib import Path

from mohs.assets.folder import assets_folder, read_note, require
from mohs.assets.folder import damage as _damage
from mohs.assets.registry import find

__all__ = ["assets_folder", "fingerprint", "installed", "located", "path", "pull"]


def path(name: str) -> Path:
    """The folder of an installed asset; BadInput says how to get one that is not there."""
    return require(find(name), assets_folder())[0]


def installed(name: str) -> bool:
    """Whether an asset is there, whole."""
    asset, root = find(name), assets_folder()
    note = read_note(asset, root)
    return note is not None and _damage(asset, root, note) is None


def fingerprint(name: str) -> str:
    """A hash of an installed asset's files and their names; not of where they came from."""
    return require(find(name), assets_folder())[1].fingerprint


def located(spec: str) -> str:
    """A file or folder as it is, or the folder of the asset of that name."""
    from mohs.assets.registry import ASSETS

    if any(asset.name == spec for asset in ASSETS) and not Path(spec).exists():
        return str(path(spec))
    return spec


def pull(name: str, *, source: Path | None = None, force: bool = False) -> Path:
    """Fetch an asset, or install it from a local folder or file; its folder."""
    from mohs.assets.install import install

    return install(find(name), assets_folder(), source=source, force=force)
