"""Least squares with one estimated noise level per observation (concentrated likelihood), standard deviations, output."""
import os
os.environ.setdefault("OMP_NUM_THREADS", "1")
import json
import numpy as np
from scipy.optimize import least_squares


def jac(f, z, h=1e-4):
    cols = []
    for i in range(len(z)):
        a, b = z.copy(), z.copy()
        a[i] += h
        b[i] -= h
        cols.append((f(a) - f(b)) / (2 * h))
    return np.array(cols).T


def fit(model, data, sigmas, start, logs, rounds=30, loss="linear", f_scale=1.0, h=1e-4, verbose=True):
    """model(theta) -> list of arrays (one per observation); data the same; sigmas: array/number, or None = estimated.
    logs[i]: fitted as logarithm (else start[i] scale: theta = value*scale). Returns theta, sd, noise, cost."""
    start = np.asarray(start, float)
    scale = np.where(np.abs(start) > 0, np.abs(start), 1.0)
    logs = np.asarray(logs)
    to = lambda z: np.where(logs, np.exp(np.clip(z, -60, 60)), z * scale)
    z = np.where(logs, np.log(np.where(logs, start, 1.0)), start / scale)
    s = [1.0 if q is None else q for q in sigmas]
    est = [q is None for q in sigmas]
    raw = lambda z: [m - d for m, d in zip(model(to(z)), data)]
    s = [np.sqrt(np.mean(r**2)) if e else q for r, e, q in zip(raw(z), est, s)]
    for k in range(rounds):
        res = lambda z: np.concatenate([r / q for r, q in zip(raw(z), s)])
        sol = least_squares(res, z, jac=lambda z: jac(res, z, h), x_scale="jac", xtol=1e-12, ftol=1e-13, gtol=1e-12, loss=loss, f_scale=f_scale)
        moved = np.max(np.abs(sol.x - z))
        z = sol.x
        new = [np.sqrt(np.mean(r**2)) if e else q for r, e, q in zip(raw(z), est, s)]
        change = max([abs(a / b - 1) for a, b, e in zip(new, s, est) if e] or [0.0])
        s = new
        if change < 1e-9 and moved < 1e-7:
            break
    J = jac(res, z, h)
    if loss == "huber":
        J = J[np.abs(res(z)) <= f_scale]
    cov = np.linalg.inv(J.T @ J)
    th = to(z)
    sd = np.sqrt(np.diag(cov)) * np.where(logs, th, scale)
    crit = sum(len(r) * np.log(np.mean(r**2)) if e else np.sum((r / q) ** 2) for r, e, q in zip(raw(z), est, s))
    if verbose:
        print("  fit", th, "sd", sd, "noise", [q if e else "stated" for q, e in zip(s, est)], "crit %.6f" % crit, "rounds", k + 1, "nfev", sol.nfev, flush=True)
    return th, sd, [float(q) if e else None for q, e in zip(s, est)], float(crit)


def write(folder, name, names, truth, optimum, sd, **more):
    ref = {"class": more.pop("cls"), "difficulty": more.pop("difficulty"),
           "truth": {n: float(v) for n, v in zip(names, truth)},
           "optimum": {n: float(v) for n, v in zip(names, optimum)},
           "sd": {n: float(v) for n, v in zip(names, sd)}, **more}
    with open(os.path.join(folder, "reference.json"), "w") as f:
        json.dump(ref, f, indent=2)
        f.write("\n")
    print(name, "written")
