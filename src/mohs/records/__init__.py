"""The results of a run: frozen records, the run folder, export."""

from mohs.records.record import Outcome, Record
from mohs.records.store import RunStore

__all__ = ["Outcome", "Record", "RunStore"]
