"""Least squares with unknown noise levels; shared by the make.py of these folders."""
import json, os, time
os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
from scipy.optimize import least_squares

def fit(model, data, truth, sigma=None, start=None, verbose=True, step=1e-4):
    """model(dict) -> list of arrays; data: list of arrays; sigma: list, None where unknown (concentrated likelihood)."""
    names = list(truth); scale = np.array([abs(truth[n]) or 1.0 for n in names])
    p = np.array([(start or truth)[n] for n in names])/scale
    s = [1.0]*len(data)
    f = lambda p: model(dict(zip(names, p*scale)))
    m = f(p)
    upd = lambda m: [sg if sg is not None else np.sqrt(np.mean((a-b)**2)) for sg, a, b in zip(sigma or [None]*len(data), m, data)]
    s = upd(m)
    def jac(p, s):
        J = []
        for k in range(len(p)):
            d = np.zeros(len(p)); d[k] = step*max(abs(p[k]), 0.1)
            J.append(np.concatenate([(a-b)/(2*d[k])/q for a, b, q in zip(f(p+d), f(p-d), s)]))
        return np.array(J).T
    for it in range(12):
        r = np.concatenate([(a-b)/q for a, b, q in zip(m, data, s)])
        J = jac(p, s)
        dp = -np.linalg.lstsq(J, r, rcond=None)[0]
        p = p+dp; m = f(p); s = upd(m)
        if verbose: print('step in sd', np.abs(dp)/np.sqrt(np.diag(np.linalg.inv(J.T@J))))
        if np.all(np.abs(dp) < 0.01*np.sqrt(np.diag(np.linalg.inv(J.T@J)))): break
    J = jac(p, s); cov = np.linalg.inv(J.T@J); sd = np.sqrt(np.diag(cov))*scale
    est = dict(zip(names, map(float, p*scale)))
    if verbose:
        print("iterations", it+1, "noise", s)
        for n, v, e in zip(names, p*scale, sd): print(f"  {n:10s} truth {truth[n]:12.5g} optimum {v:12.5g} sd {e:10.3g} ({100*e/abs(v):.2f} %) off {(v-truth[n])/e:+.2f} sd")
    return est, dict(zip(names, map(float, sd))), [float(x) for x in s], m

def write_json(path, obj):
    json.dump(obj, open(path, "w"), indent=1)

def csv(path, header, rows, comment=None):
    with open(path, "w") as g:
        if comment: g.write("# "+comment+"\n")
        g.write(header+"\n")
        for r in rows: g.write(",".join(r)+"\n")

def function(of, at, truth, fit):
    """A function of the reference: its values at places, and the relative L2 error of the own fit."""
    r = lambda a: [round(float(v), 4) for v in a]
    return {"of": of, "error": float(np.linalg.norm(fit-truth)/np.linalg.norm(truth)), "at": [float(v) for v in at], "truth": r(truth), "optimum": r(fit)}
