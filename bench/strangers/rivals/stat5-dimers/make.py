import os, sys
HERE = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(HERE))
from common import *
from scipy.integrate import solve_ivp
TIMES = np.array([0, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240.])
C, CYT, NUC, XH = .107, 1.4, .45, 1e-5

def solve(p, rtol=1e-9):
    deg, xhomo, ihet, ihomo, phos, ratio = p
    def rhs(t, s):
        A, B, AA, AB, BB, nAA, nAB, nBB = s
        k = 1.25e-7 * np.exp(-deg * t) * phos
        return [-2 * k * A * A - k * A * B + NUC / CYT * (2 * xhomo * nAA + XH * nAB),
                -2 * k * B * B - k * A * B + NUC / CYT * (2 * xhomo * nBB + XH * nAB),
                k * A * A - ihomo * AA, k * A * B - ihet * AB, k * B * B - ihomo * BB,
                CYT / NUC * ihomo * AA - xhomo * nAA, CYT / NUC * ihet * AB - XH * nAB, CYT / NUC * ihomo * BB - xhomo * nBB]
    sol = solve_ivp(rhs, (0, 240), [207.6 * ratio, 207.6 * (1 - ratio)] + [0] * 6, method="LSODA", t_eval=TIMES, rtol=rtol, atol=rtol * 1e-2)
    A, B, AA, AB, BB = sol.y[:5]
    return np.array([(100 * AB + 200 * AA * C) / (AB + A * C + 2 * AA * C),
                     -(100 * AB - 200 * BB * (C - 1)) / (B * (C - 1) - AB + 2 * BB * (C - 1)),
                     (100 * AB + 100 * A * C + 200 * AA * C) / (2 * AB + A * C + 2 * AA * C - B * (C - 1) - 2 * BB * (C - 1))])

names = ["Epo_degradation", "k_exp_homo", "k_imp_hetero", "k_imp_homo", "k_phos", "ratio"]
truth = np.array([.02698, .00617, .01637, .6, 15766., .693])
rng = np.random.default_rng(606)
y = solve(truth)
rows = []
for rep in range(2):
    for i, t in enumerate(TIMES):
        v = y[:, i] + np.array([3.85, 6.59, 3.15]) * rng.normal(size=3)
        rows.append((t, ["NA" if rng.uniform() < .08 else f"{w:.2f}".replace(".", ",") for w in v], rep + 1))
with open(HERE + "/measurements.csv", "w") as f:
    f.write("# Western blot and mass spectrometry, two replicates\nreplicate;time_min;pSTAT5A_rel;pSTAT5B_rel;rSTAT5A_rel\n")
    for t, v, rep in rows:
        f.write(f"{rep};{t:g};".replace(".", ",") + ";".join(v) + "\n")
D = np.array([[np.nan if c == "NA" else float(c.replace(",", ".")) for c in line.strip().split(";")] for line in open(HERE + "/measurements.csv").readlines()[2:]])
idx = np.searchsorted(TIMES, D[:, 1])
assert np.all(TIMES[idx] == D[:, 1])
def blocks(rtol):
    def f(lp):
        y = solve(np.exp(lp), rtol)
        return [(y[k][idx] - D[:, 2 + k])[~np.isnan(D[:, 2 + k])] for k in range(3)]
    return f
prior = lambda lp: np.array([(np.exp(lp[5]) - .693) / .02])
def run(start, rtol=1e-10):
    p, sd, cov, s, dev = fit(blocks(rtol), np.log(start), prior=prior, step=1e-5)
    return np.exp(p), np.exp(p) * sd, s, dev
p, sd, s, dev = run(truth)
q, _, _, dq = run(truth * np.array([1.5, .7, 1.3, .5, .7, 1.]))
fine = run(p, 1e-12)[0]
# is the optimum a true minimum of the profile likelihood of sigma?  (perturb each by an sd)
def deviance(x):
    r = blocks(1e-10)(np.log(x))
    return sum(len(a) * (1 + np.log(np.mean(a**2))) for a in r) + prior(np.log(x))[0]**2
print("profile", [[round(deviance(p * np.exp(sgn * (sd[k] / p[k]) * np.eye(6)[k])) - deviance(p), 3) for sgn in (-1, 1)] for k in range(6)])
write(HERE, names, truth, p, sd, sigma=s, deviance=dev, deviance_check=float(deviance(p)), second_start_sd=compare(p, sd, q), second_start_deviance=dq, finer_sd=compare(p, sd, fine), difficulty="awkward", **{"class": "ODE, awkward data"}, note="two replicates with decimal commas and NA, three unknown noise levels, ratios as observables, guesses up to a factor 6 off, k_imp_homo weakly seen")
