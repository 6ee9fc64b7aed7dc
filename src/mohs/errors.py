"""What goes wrong, as one small tree.

MohsError            a user's mistake or a broken part: one sentence with the value and the remedy
├── BadInput         data, options or a run folder that cannot be used
├── VictimError      the model under test broke its promise (NaN, wrong width, not probabilities)
└── ServiceFailed    a model stopped answering altogether; everything finished is saved
"""


class MohsError(Exception):
    """A problem the user can act on; its text is one sentence and is shown without a traceback."""


class BadInput(MohsError):
    """Data, an option or a run folder that cannot be used as it is."""


class VictimError(MohsError):
    """A victim's answer that is not what it declared."""


class ServiceFailed(MohsError):
    """A model that no longer answers anything, which ends the run with all finished work saved."""
