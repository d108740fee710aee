"""Least squares from the truth, standard errors from J^T J, and the reference file."""
import json, numpy as np
from scipy.optimize import least_squares

def fit(resid, names, truth, verbose=True):
    """resid: weighted residuals of the logarithms of positive numbers."""
    x0 = np.log([truth[n] for n in names])
    s = least_squares(lambda q: resid(dict(zip(names, np.exp(q)))), x0, method="trf",
                      diff_step=1e-4, xtol=1e-8, ftol=1e-10, gtol=1e-8)
    cov = np.linalg.inv(s.jac.T @ s.jac)
    p = np.exp(s.x)
    sd = p * np.sqrt(np.diag(cov))
    n = s.fun.size
    if verbose:
        print("chi2/n", 2*s.cost/n, "n", n, "nfev", s.nfev)
        for a, b, c in zip(names, p, sd):
            print(f"  {a:10s} truth {truth[a]:.5g} optimum {b:.5g} sd {c:.2g} ({100*c/b:.1f} %) pull {(b-truth[a])/c:.2f}")
        c = cov/np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
        print("  largest correlation", np.abs(c-np.eye(len(p))).max())
    return dict(zip(names, map(float, p))), dict(zip(names, map(float, sd)))

def write(path, cls, difficulty, truth, optimum, sd, noise, note, functions=None):
    r = {"class": cls, "difficulty": difficulty, "truth": truth, "optimum": optimum, "sd": sd, "noise": noise, "note": note}
    if functions:
        r["functions"] = functions
    json.dump(r, open(path, "w"), indent=1)

def function(of, at, truth, fit):
    """A function of the reference: its values at places, and the relative L2 error of the own fit."""
    r = lambda a: [round(float(v), 4) for v in a]
    return {"of": of, "error": float(np.linalg.norm(fit-truth)/np.linalg.norm(truth)), "at": [float(v) for v in at], "truth": r(truth), "optimum": r(fit)}
