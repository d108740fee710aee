"""The stated equations of the ODE problems against the solvers: the stated file is parsed and integrated on its own."""
import os, re, sys, tomllib, importlib.util, json, csv
os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
from scipy.integrate import solve_ivp
for d in ["midazolam-infusion", "influenza-titre", "repressilator-movie", "oligomers", "cpeptide-secretion"]:
    p = tomllib.load(open(d + "/problem.toml", "rb")); ref = json.load(open(d + "/reference.json"))
    def py(s): return re.sub(r"\bif\(", "IF(", s).replace("^", "**")
    env = {"IF": lambda c, a, b: a if c else b, "log": np.log, "exp": np.exp}
    for k, v in p.get("constants", {}).items(): env[k] = v["value"] if isinstance(v, dict) else v
    env.update(ref["optimum"])
    eqs = {}
    for e in p["equation"].values():
        l, r = e["holds"].split("=", 1); eqs[l.strip()[:-2]] = compile(py(r.strip()), d, "eval")
    names = list(eqs); y0 = {}
    for c in p["condition"].values():
        l, r = c["holds"].split("="); y0[l.strip()] = eval(py(r.strip()), env)
    if "functions" in ref: f = ref["functions"]["ISR"]
    def rhs(t, y):
        e = dict(env); e.update(zip(names, y)); e["t"] = t
        if "functions" in ref: e["ISR"] = np.interp(t, f["at"], f["independent"])
        return [eval(eqs[n], e) for n in names]
    T = p["coordinates"]["t"]["range"][1]
    s = solve_ivp(rhs, (0, T), [y0[n] for n in names], rtol=1e-8, atol=1e-10 if d != "influenza-titre" else [1, 1e-4, 1e-8], method="LSODA", dense_output=True, max_step=T/300)
    for o, q in p["observation"].items():
        c = q["data"]["columns"]; rows = list(csv.DictReader(open(d + "/" + q["data"]["file"])))
        rows = [r for r in rows if r[c["value"]] != "NA"]
        t = np.array([float(r[c["t"]]) for r in rows]); v = np.array([float(r[c["value"]]) for r in rows])
        e = dict(env); e.update(zip(names, s.sol(t))); m = eval(py(q["value"]), e)
        like = q.get("likelihood", "")
        r = np.log(m/v) if like == "lognormal" else m - v
        if isinstance(like, dict): r = r[v > 0.7]
        if "sigma" in c: r = r/np.array([float(x[c["sigma"]]) for x in rows])
        print(d, o, "rms %.6g" % np.sqrt(np.mean(r**2)), "reference noise", ref.get("noise"))
