import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from common import reference, read

halls = {"North": (420, 3, 0.92, 30), "Park": (260, 2, 0.78, 30), "Mill": (610, 4, 1.12, 30)}
names = ["gamma"] + ["beta@" + h for h in halls]
truth = np.array([0.46] + [v[2] for v in halls.values()])


def model(th):
    out = []
    for (N, i0, _, days), b in zip(halls.values(), th[1:]):
        y = solve_ivp(lambda t, y: [-b * y[0] * y[1] / N, b * y[0] * y[1] / N - th[0] * y[1]], (0, days), [N - i0, i0], rtol=1e-10, atol=1e-9, method="DOP853", t_eval=np.arange(days + 1.0))
        out.append(-np.diff(y.y[0]))
    return np.concatenate(out)


rng = np.random.default_rng(707)
m = model(truth)
k = rng.poisson(m)
i = 0
with open("onsets.csv", "w") as f:
    f.write("hall,day,cases\n")
    for h, v in halls.items():
        for d in range(v[3]):
            f.write("%s,%d,%d\n" % (h, d + 1, k[i]))
            i += 1
k = np.array([float(l.split(",")[2]) for l in open("onsets.csv").readlines()[1:]])
nll = lambda z: float(np.sum(model(np.exp(z)) - k * np.log(model(np.exp(z)))))
z = np.log([0.3, 0.6, 0.6, 0.6])
for _ in range(30):                                            # Fisher scoring
    m = model(np.exp(z))
    J = np.array([(model(np.exp(z + h)) - model(np.exp(z - h))) / 2e-4 for h in 1e-4 * np.eye(4)]).T
    I = J.T @ (J / m[:, None])
    dz = np.linalg.solve(I, J.T @ (k / m - 1))
    z = z + np.clip(dz, -0.3, 0.3)
    if np.abs(dz).max() < 1e-10:
        break
ref = minimize(nll, z + 0.05, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000})
opt = np.exp(z)
sd = opt * np.sqrt(np.diag(np.linalg.inv(I)))
print("Fisher scoring", opt, "Nelder-Mead", np.exp(ref.x), "sd", sd, "rel", sd / opt, "pull", (opt - truth) / sd, "cases", k.reshape(3, -1).sum(1))
print(k.reshape(3, -1))
reference(names, truth, opt, sd, **{"class": "epidemiology: SIR in three closed populations, shared recovery, own transmission, daily counts", "difficulty": "easy",
          "noise": "Poisson counts of new cases a day", "deviance": float(2 * np.sum(np.where(k > 0, k * np.log(np.maximum(k, 1) / model(opt)), 0) - (k - model(opt)))),
          "note": "what is observed is the integral of the incidence over the day before"})
