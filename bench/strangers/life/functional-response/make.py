"""Prey eaten in dishes by predators that get in each other's way (Beddington-DeAngelis with depletion), binomial counts."""
import sys; sys.path.insert(0, ".."); import numpy as np
from scipy.integrate import solve_ivp
from common import fit, write
dishes = [(8, 1, 6), (16, 1, 6), (32, 1, 6), (64, 1, 6), (128, 1, 5), (256, 1, 4), (32, 3, 5), (128, 3, 5), (256, 3, 4), (64, 0, 6)]   # prey, predators, replicates
T = 24.0
def left(p, N0, P):
    rhs = lambda t, N: -P*p["a"]*N/(1+p["a"]*p["h"]*N+p["c"]*(P-1)) - p["mu"]*N
    return solve_ivp(rhs, (0, T), [float(N0)], "LSODA", rtol=1e-10, atol=1e-10).y[0, -1]
truth = {"a": 0.085, "h": 0.42, "c": 0.35, "mu": 0.0035}
g = np.random.default_rng(3)
data = {}
book = "date,N0,predators,dish,dead\n"
for j, (N0, P, reps) in enumerate(dishes):
    q = 1-left(truth, N0, P)/N0
    data[N0, P] = g.binomial(N0, q, reps)
    print(N0, P, round(q, 3), data[N0, P])
    for i, k in enumerate(data[N0, P]): book += f"2019-05-{3+i:02d},{N0},{P},{j*6+i+1},{k}\n"
    open(f"dishes_N{N0}_P{P}.csv", "w").write("hours,dead\n" + "".join(f"24,{k}\n" for k in data[N0, P]))
open("labbook.csv", "w").write(book)
def resid(p):
    out = []
    for (N0, P), k in data.items():
        mu = N0-left(p, N0, P)
        for a in k:
            dev = 2*((a*np.log(a/mu) if a else 0)+((N0-a)*np.log((N0-a)/(N0-mu)) if a < N0 else 0))
            out.append(np.sign(mu-a)*np.sqrt(max(dev, 0)))
    return np.array(out)
opt, sd = fit(resid, list(truth), truth)
write("reference.json", "ode, ten experiments with shared unknowns, binomial counts", "easy", truth, opt, sd, ["binomial"]*len(dishes),
      "functional response with interference and natural deaths; eaten out of N0, a binomial likelihood by custom")
