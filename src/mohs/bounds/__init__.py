"""Robustness radius (Yang et al. 2022): from above by attacks, from below by proof, and the share that holds beyond."""

from mohs.bounds.certificate import Certificate, Checked, check, read_certificates
from mohs.bounds.intervals import (
    Interval,
    Sequential,
    anytime,
    clopper_pearson,
    each,
    hoeffding_interval,
    hoeffding_size,
    needed_clopper_pearson,
)
from mohs.bounds.points import Points
from mohs.bounds.prover import Proof, Prover
from mohs.bounds.sampling import Draws, draw
from mohs.bounds.share import Share, Shares
from mohs.bounds.task import RadiusTask

__all__ = [
    "Certificate",
    "Checked",
    "Draws",
    "Interval",
    "Points",
    "Proof",
    "Prover",
    "RadiusTask",
    "Sequential",
    "Share",
    "Shares",
    "anytime",
    "check",
    "clopper_pearson",
    "draw",
    "each",
    "hoeffding_interval",
    "hoeffding_size",
    "needed_clopper_pearson",
    "read_certificates",
]
