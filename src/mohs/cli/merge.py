"""`mohs merge`."""

from __future__ import annotations

from mohs.cli.settings import command, help_of
from mohs.runs.merge import Merge


def _merge(asked: Merge, *, json: bool, verbose: bool) -> None:
    """Join the parts, and show the figures of the whole."""
    from mohs.cli.run_progress import finished, progress_bar
    from mohs.errors import BadInput
    from mohs.report.template import written
    from mohs.runs.containment import no_sudden_end, own_output
    from mohs.runs.merge import merge
    from mohs.runs.run import sound

    if asked.out is None:
        raise BadInput("mohs merge needs --out, the folder for the whole run.")
    with own_output(), no_sudden_end(), progress_bar(json, "joining") as progress:
        run = merge(asked.runs, asked.out, progress)
    with run, sound(run):
        assert run.folder is not None
        view = run.view()
        files = [written(view.page(), run.folder / "report.html"), *view.files(run.folder)]
        names = ", ".join(path.name for path in files)
        finished(run, view, json, verbose, f"In {run.folder}: {names}", files=list(map(str, files)))


merge = command([Merge], _merge, help_of(Merge.__doc__), ["runs"])
