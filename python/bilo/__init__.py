"""Inverse problems of differential equations: state the equation, give the data, get the unknowns back.

>>> import bilo
>>> problem = bilo.Problem('''
... name = "decay"
... [coordinates]
... t = { range = [0.0, 1.0], time = true }
... [unknown.k]
... guess = 1.0
... truth = 2.0
... [equation.decay]
... holds = "u_t = -k*u"
... [condition.start]
... at = { t = 0.0 }
... holds = "u = 1"
... [observation.samples]
... value = "u"
... data = { synthetic = { grid = { t = 11 }, noise = 0.0 } }
... ''')
>>> result = problem.run()
>>> round(result.estimate["k"], 4)
2.0

It is the program `bilo` as a package: the same problem files, the same numbers to the last bit. A problem is a file, a text,
a dictionary or the name of a problem that comes with bilo (`bilo.problems()`, `bilo.gallery()`).
"""

from bilo._bilo import __version__
from bilo._posterior import Posterior
from bilo._problem import Problem, gallery, methods, problems
from bilo._progress import Step
from bilo._result import Profile, Reason, Result, Verdict, load_run
from bilo._study import study
from bilo.errors import BiloError, DeviceError, ProblemError, ResultWarning, SolverError

__all__ = [
    "BiloError",
    "DeviceError",
    "Posterior",
    "Problem",
    "ProblemError",
    "Profile",
    "Reason",
    "Result",
    "ResultWarning",
    "SolverError",
    "Step",
    "Verdict",
    "__version__",
    "gallery",
    "load_run",
    "methods",
    "problems",
    "study",
]
