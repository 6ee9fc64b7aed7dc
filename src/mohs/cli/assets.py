"""`mohs assets`: the published resources that the package does not ship."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mohs.cli.options import Json, Verbose
from mohs.cli.saying import say, say_json

if TYPE_CHECKING:
    from mohs.assets.asset import Asset
    from mohs.assets.fetch import Watch
    from mohs.assets.status import Status

app = typer.Typer(
    help="Word vectors, WordNet, encoders and language models: list, get and find them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
Names = Annotated[list[str], typer.Argument(metavar="NAME", help="Assets, as `mohs assets list` names them.")]


@app.command("list")
def list_assets(json: Json = False, verbose: Verbose = False) -> None:
    """List the assets: name, kind, size, licence, and whether each is installed.

    \b
    Examples:
      mohs assets list
      mohs assets list --verbose
      mohs assets list --json
    """
    from mohs.assets.folder import assets_folder
    from mohs.assets.registry import ASSETS
    from mohs.assets.status import megabytes, status

    root = assets_folder()
    rows = [status(asset, root) for asset in ASSETS]
    if json:
        _print_json([_row(row) for row in rows])
        return
    from rich.table import Table

    from mohs.report.terminal import SafeConsole

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "kind", "size", "state", "licence"):
        justify: Literal["left", "right"] = "right" if column == "size" else "left"
        whole = column in ("name", "kind", "size")  # users type these, so never truncate them
        table.add_column(column, justify=justify, no_wrap=whole, min_width=12 if column == "state" else None)
    for row in rows:
        size = "" if row.bytes is None else megabytes(row.bytes)
        table.add_row(row.name, row.kind, size, row.state, row.licence)
    console = SafeConsole()
    console.print(table)
    for row in rows if verbose else []:
        lines = [row.about, f"used by {row.used_by}", f"`{row.command}`", *row.urls]
        console.print(f"\n{row.name}\n  " + "\n  ".join(lines), markup=False, highlight=False)


@app.command("pull")
def pull(
    names: Names,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR_OR_FILE", help="Install from a local folder or archive; no network."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Install again what is already installed.")] = False,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Download assets and check them, or install one from a local copy. An interrupted download is resumed.

    \b
    Examples:
      mohs assets pull wordnet minilm
      mohs assets pull glove-100d --from ~/Downloads/glove.6B.zip
      mohs assets pull hownet --from lexical/
    """
    from mohs.assets.folder import assets_folder, require
    from mohs.assets.install import install
    from mohs.assets.registry import find
    from mohs.assets.status import fetched, megabytes, status
    from mohs.errors import BadInput

    assets = [find(name) for name in dict.fromkeys(names)]
    if source is not None and len(assets) > 1:
        raise BadInput(f"--from installs one asset at a time; {len(assets)} are named.")
    root = assets_folder()
    rows = []
    for asset in assets:
        there = not force and status(asset, root).installed
        try:
            with _watching(asset, quiet=json) as watch:
                place = install(asset, root, source=source, force=force, watch=watch)
        except KeyboardInterrupt:
            if kept := fetched(asset, root):
                say(f"mohs: {megabytes(kept)} of {asset.name} are kept; run again to resume.", error=True)
            raise
        note = require(asset, root)[1]
        rows.append({**_row(status(asset, root)), "already": there})
        if not json:
            what = "was already installed" if there else "installed"
            against = "" if note.checked else "; no checksum is known to compare it with"
            files = f"{len(note.files)} file" + ("s" if len(note.files) > 1 else "")
            say(f"{asset.name}: {what} in {place} ({files}, {megabytes(note.size)}{against})")
            for name, file in note.files.items() if verbose else []:
                say(f"  {file.sha256}  {name}{'' if name in note.checked else '  (not checked)'}")
    if json:
        _print_json(rows)


@app.command("path")
def path(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An asset; without a name, prints the folder of all assets.")
    ] = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Print the folder of an installed asset, or the folder of all assets.

    \b
    Examples:
      mohs assets path
      mohs assets path wordnet
      MOHS_ASSETS=/data/mohs mohs assets path
    """
    from mohs.assets.folder import assets_folder, require
    from mohs.assets.registry import find

    root = assets_folder()
    if name is None:
        found: dict[str, Any] = {"path": str(root)}
    else:
        place, note = require(find(name), root)
        found = {"path": str(place), "source": note.source, "fingerprint": note.fingerprint}
    if json:
        _print_json(found)
        return
    say(found.pop("path"))
    for key, value in found.items() if verbose else []:
        say(f"  {key}: {value}")


@app.command("check")
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Assets to check; default: all installed.")
    ] = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Read installed assets again and compare every file with the hash noted at installation.

    \b
    Examples:
      mohs assets check
      mohs assets check wordnet
    """
    from mohs.assets.folder import assets_folder, read_note, require, rotten
    from mohs.assets.registry import ASSETS, find
    from mohs.errors import BadInput

    root = assets_folder()
    assets = [find(name) for name in names] if names else [asset for asset in ASSETS if read_note(asset, root)]
    rows = []
    for asset in assets:
        _, note = require(asset, root)
        if problem := rotten(asset, root, note):
            raise BadInput(
                f"The asset {asset.name} in {root} is damaged ({problem}); get it again with `{asset.command} --force`."
            )
        rows.append({"name": asset.name, "files": len(note.files), "fingerprint": note.fingerprint})
        if not json:
            say(f"{asset.name}: whole" + (f", {len(note.files)} read, {note.fingerprint}" if verbose else ""))
    if json:
        _print_json(rows)


def _row(found: Status) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(found), "installed": found.installed}


def _print_json(value: object) -> None:
    say_json(value)


@contextmanager
def _watching(asset: Asset, *, quiet: bool) -> Iterator[Watch]:
    """A progress bar on a terminal; elsewhere only the notes, one line each."""
    from mohs.assets.fetch import Watch

    if quiet or not sys.stderr.isatty():

        class Lines(Watch):
            def note(self, sentence: str) -> None:
                say(f"mohs: {sentence}", error=True)

        yield Lines()
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from mohs.report.terminal import SafeConsole

    columns = (TextColumn(asset.name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=SafeConsole(stderr=True), transient=True) as bar:
        task = bar.add_task(asset.name, total=None)

        class Bar(Watch):
            def moved(self, done: int, total: int | None) -> None:
                bar.update(task, completed=done, total=total)

            def note(self, sentence: str) -> None:
                bar.console.print(sentence, markup=False, highlight=False)

        yield Bar()
