#!/usr/bin/env python3
"""Data and reference answers of the gallery.

    python gallery/make.py [NAME ...]

Every problem is a function below: it states the truth, a solver of its own (SciPy or a closed form), and what an instrument would have read.
Written are `data*.csv` and `reference.json`; the latter has the truth, the optimum of an independent fit to the very same data and its
standard deviations. Needs NumPy and SciPy. Nothing here uses the program that the gallery tests.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline, CubicSpline
from scipy.optimize import least_squares
from scipy.special import log_ndtr

HERE = Path(__file__).resolve().parent
PROBLEMS = {}


def problem(name, kind, difficulty, note="", **more):
    """Enters a function into the table of problems. Its seed follows from its name."""

    def enter(make):
        PROBLEMS[name] = (make, {"class": kind, "difficulty": difficulty, "note": note, **more})
        return make

    return enter


# ---------------------------------------------------------------- likelihoods and fits


class Seen:
    """Data of one observation and how they speak of the value: `loss` is twice a negative log-likelihood, at least zero."""

    def __init__(self, data, sigma=None, kind="gaussian", **options):
        self.data, self.kind, self.options = np.asarray(data, float), kind, options
        self.estimated = sigma is None and kind in ("gaussian", "lognormal")
        self.sigma = np.ones_like(self.data) if sigma is None else np.broadcast_to(np.asarray(sigma, float), self.data.shape)

    def loss(self, value):
        data, o = self.data, self.options
        if self.kind == "poisson":
            value = np.maximum(value, 1e-12)
            return 2 * (value - data + np.where(data > 0, data * np.log(np.maximum(data, 1e-300) / value), 0))
        if self.kind == "negative-binomial":
            k, value = o["dispersion"], np.maximum(value, 1e-12)
            full = lambda m: -(data * np.log(np.maximum(m, 1e-300) / (m + k)) - k * np.log1p(m / k))
            return np.maximum(2 * (full(value) - np.where(data > 0, full(np.maximum(data, 1e-12)), 0)), 0)
        if self.kind == "bernoulli":
            value = np.clip(value, 1e-12, 1 - 1e-12)
            return -2 * np.log(np.where(data > 0.5, value, 1 - value))
        if self.kind == "lognormal":
            r = np.log(np.maximum(value, 1e-300) / data) / self.sigma
            return r**2
        r = (value - data) / self.sigma
        if self.kind == "huber":
            k = 1.345
            return np.where(np.abs(r) <= k, r**2, 2 * k * np.abs(r) - k**2)
        if self.kind == "student":
            nu = 4
            return (nu + 1) * np.log1p(r**2 / nu)
        if self.kind == "censored":
            above, below = o.get("above", np.inf), o.get("below", -np.inf)
            loss = r**2
            loss = np.where(data >= above, -2 * log_ndtr((value - above) / self.sigma), loss)
            return np.where(data <= below, -2 * log_ndtr((below - value) / self.sigma), loss)
        return r**2

    def residuals(self, value):
        """Signed roots of the losses: their sum of squares is the deviance, so least squares find the maximum of the likelihood."""
        return np.sign(value - self.data) * np.sqrt(self.loss(value)) if self.kind != "bernoulli" else np.sqrt(self.loss(value))

    def information(self, value):
        """Second derivatives of the negative log-likelihood by each value."""
        step = 1e-4 * np.maximum(np.abs(value), 1e-3 * np.max(np.abs(value)) + 1e-300)
        curve = (self.loss(value + step) - 2 * self.loss(value) + self.loss(value - step)) / step**2 / 2
        if self.kind == "student":  # expected in place of observed, which outliers make negative
            curve = np.full_like(value, 5 / 7) / self.sigma**2
        return np.maximum(curve, 0)


class Case:
    """What a problem's function returns: truth, model (numbers by name -> list of predicted arrays), data of each, files to be written.

    `functions`: name -> (arguments, true values, function of coefficients -> values, penalty matrix), see `fit_function`."""

    def __init__(self, truth, model, seen, files, start=None):
        self.truth, self.model, self.seen, self.files = truth, model, seen, files
        self.start = start or truth


def fit(case):
    names = list(case.truth)
    scale = np.array([abs(case.truth[n]) or 1.0 for n in names])
    values = lambda p: case.model(dict(zip(names, p * scale)))
    residuals = lambda p: np.concatenate([s.residuals(v) for s, v in zip(case.seen, values(p))])
    p = np.array([case.start[n] for n in names]) / scale
    for _ in range(30):
        before = [s.sigma.flat[0] for s in case.seen]
        found = least_squares(residuals, p, jac="3-point", x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12)
        p = found.x
        for s, v in zip(case.seen, values(p)):
            if s.estimated:
                s.sigma = s.sigma * np.sqrt(np.mean(s.loss(v)))
        estimated = [s for s in case.seen if s.estimated]
        if len(estimated) < 2 or max(abs(s.sigma.flat[0] / b - 1) for s, b in zip(case.seen, before)) < 1e-9:
            break
    seen = np.concatenate(values(p))
    jacobian = np.empty((len(seen), len(p)))
    for j in range(len(p)):
        step = np.zeros(len(p))
        step[j] = 1e-4 * max(abs(p[j]), 1e-2)
        jacobian[:, j] = (np.concatenate(values(p + step)) - np.concatenate(values(p - step))) / (2 * step[j])
    weights = []
    for s, v in zip(case.seen, values(p)):
        freedom = len(s.data) / max(len(s.data) - len(p), 1) if s.estimated else 1.0
        weights.append(s.information(v) / freedom)
    covariance = np.linalg.pinv(jacobian.T @ (np.concatenate(weights)[:, None] * jacobian), rcond=1e-13)
    sd = np.sqrt(np.diag(covariance)) * scale
    optimum = p * scale
    answer = {
        "truth": case.truth,
        "optimum": dict(zip(names, optimum.tolist())),
        "sd": dict(zip(names, sd.tolist())),
        "deviance": float(sum(np.sum(s.loss(v)) for s, v in zip(case.seen, values(p)))),
    }
    if any(s.estimated for s in case.seen):
        answer["noise"] = [float(s.sigma.flat[0]) if s.estimated else None for s in case.seen]
    return answer


def rounded(values, digits=6):
    return [float(f"{v:.{digits}g}") for v in np.ravel(values)]


def table(**columns):
    """Columns of a file, rounded as an instrument would write them; the fit sees the same digits."""
    return {name: rounded(values) for name, values in columns.items()}


def make(name):
    function, more = PROBLEMS[name]
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    seed = sum(ord(c) * (i + 1) for i, c in enumerate(name))
    case = function(np.random.default_rng(seed))
    for file, columns in case.files.items():
        rows = zip(*[[f"{v:.10g}" if isinstance(v, float) else str(v) for v in column] for column in columns.values()])
        (folder / file).write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    answer = case.answer if hasattr(case, "answer") else fit(case)
    answer.update(more)
    (folder / "reference.json").write_text(json.dumps(answer, indent=2) + "\n")
    print(name, " ".join(f"{k}={v:.5g}±{answer['sd'][k]:.2g} (truth {answer['truth'][k]:.5g})" for k, v in answer["optimum"].items()), flush=True)


# ---------------------------------------------------------------- solvers


def ode(rates, start, times, method="LSODA", rtol=1e-9, atol=1e-10, **more):
    """States at the times (rows: states). The first time is that of the start unless t0 says otherwise."""
    times = np.asarray(times, float)
    t0 = more.pop("t0", 0.0)
    solution = solve_ivp(rates, (t0, times[-1]), start, method=method, t_eval=times, rtol=rtol, atol=atol, **more)
    if solution.status != 0 or solution.y.shape[1] != len(times):
        return np.full((len(start), len(times)), 1e6)
    return solution.y


def slab(x, start, times, flux, source=None, left=None, right=None, capacity=1.0, atol=1e-9):
    """capacity*u_t = -flux_x + source over vertex-centred volumes of second order.

    `flux(u_face, slope, t)` is the flux at faces; `left(u, t)`, `right(u, t)` the flux through the ends, to the right. An end without one
    keeps its starting value."""
    h = x[1] - x[0]

    def rates(t, u):
        f = flux((u[1:] + u[:-1]) / 2, (u[1:] - u[:-1]) / h, t)
        r = np.empty_like(u)
        r[1:-1] = -(f[1:] - f[:-1]) / h
        r[0] = 0.0 if left is None else -(f[0] - left(u[0], t)) / (h / 2)
        r[-1] = 0.0 if right is None else -(right(u[-1], t) - f[-1]) / (h / 2)
        if source is not None:
            s = source(x, u, t)
            r[1:-1] += s[1:-1]
            r[0] += s[0] if left is not None else 0.0
            r[-1] += s[-1] if right is not None else 0.0
        return r / capacity

    return ode(rates, start, times, atol=atol, rtol=1e-9, lband=1, uband=1)


def at(x, u, places):
    """Columns of u (nodes by times) at places: cubic interpolation; rows are places."""
    return CubicSpline(x, u, axis=0)(places)


def noisy(rng, value, sigma):
    return np.array(rounded(value + sigma * rng.standard_normal(np.shape(value)))).reshape(np.shape(value))


# ---------------------------------------------------------------- ordinary differential equations, smooth


@problem("lotka-volterra", "ODE, smooth", "easy", "lognormal errors of unknown size, starting values unknown")
def lotka_volterra(rng):
    truth = dict(birth=0.55, catch=0.028, death=0.84, gain=0.026, hares=33.0, lynxes=6.0)
    t = np.arange(0, 21.0)

    def model(p):
        rates = lambda _, y: [y[0] * (p["birth"] - p["catch"] * y[1]), y[1] * (p["gain"] * y[0] - p["death"])]
        return list(np.maximum(ode(rates, [p["hares"], p["lynxes"]], t), 1e-9))

    seen = [np.array(rounded(v * np.exp(0.15 * rng.standard_normal(len(t))), 3)) for v in model(truth)]
    return Case(truth, model, [Seen(v, kind="lognormal") for v in seen], {"data.csv": table(year=t, hare=seen[0], lynx=seen[1])})


@problem("pendulum", "ODE, smooth", "easy", "second order in time, linear friction and quadratic drag")
def pendulum(rng):
    truth = dict(L=1.02, c=0.035, k=0.022)
    t = np.arange(1, 201) * 0.1

    def model(p):
        rates = lambda _, y: [y[1], -p["c"] * y[1] - p["k"] * abs(y[1]) * y[1] - 9.81 / p["L"] * np.sin(y[0])]
        return [ode(rates, [1.2, 0.0], t)[0]]

    angle = noisy(rng, model(truth)[0], 0.01)
    return Case(truth, model, [Seen(angle, 0.01)], {"data.csv": table(t=t, angle=angle)})


@problem("two-compartment", "ODE, smooth", "easy", "a bolus into the blood, eleven samples, relative errors")
def two_compartment(rng):
    truth = dict(CL=5.2, V1=12.0, Q=8.5, V2=31.0)
    t = np.array([0.083, 0.25, 0.5, 1, 1.5, 2, 4, 6, 8, 12, 24])

    def model(p):
        def rates(_, a):
            c1, c2 = a[0] / p["V1"], a[1] / p["V2"]
            return [-p["CL"] * c1 - p["Q"] * (c1 - c2), p["Q"] * (c1 - c2)]

        return [ode(rates, [250.0, 0.0], t)[0] / p["V1"]]

    c = np.array(rounded(model(truth)[0] * np.exp(0.08 * rng.standard_normal(len(t))), 4))
    return Case(truth, model, [Seen(c, 0.08, "lognormal")], {"data.csv": table(t=t, conc=c)})


@problem("michaelis-menten", "ODE, smooth", "easy", "a progress curve; guesses are ten times too large")
def michaelis_menten(rng):
    truth = dict(Vmax=0.118, Km=0.43)
    t = np.arange(1, 31) * 1.0

    def model(p):
        return [ode(lambda _, s: -p["Vmax"] * s / (p["Km"] + s), [2.0], t)[0]]

    s = noisy(rng, model(truth)[0], 0.02)
    return Case(truth, model, [Seen(s)], {"data.csv": table(t_min=t, S_mM=s)})


@problem("growth-lag", "ODE, smooth", "hard", "six decades of cell numbers, seen as logarithms")
def growth_lag(rng):
    truth = dict(mu=0.92, q0=0.012, Nmax=1.4e9, N0=2.1e3)
    t = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30.0])

    def model(p):
        rates = lambda s, y: p["mu"] * p["q0"] / (p["q0"] + np.exp(-p["mu"] * s)) * (1 - np.exp(y) / p["Nmax"])
        return [ode(rates, [np.log(abs(p["N0"]))], t)[0] / np.log(10)]

    y = np.array(rounded(model(truth)[0] + 0.12 * rng.standard_normal(len(t)), 4))
    return Case(truth, model, [Seen(y)], {"data.csv": table(t=t, log10_cfu=y)})


@problem("seir-counts", "ODE, smooth", "easy", "daily counts, Poisson; no reports at week-ends")
def seir(rng):
    truth = dict(beta=0.52, gamma=0.21, E0=9.0)
    days = np.arange(1, 91.0)
    days = days[(days % 7 != 6) & (days % 7 != 0)]
    N, k, seen = 48000.0, 0.25, 0.4

    def model(p):
        def rates(_, y):
            new = p["beta"] * y[0] * y[2] / N
            return [-new, new - k * y[1], k * y[1] - p["gamma"] * y[2]]

        return [seen * k * ode(rates, [N - p["E0"], p["E0"], 0.0], days, atol=1e-7)[1]]

    counts = rng.poisson(model(truth)[0]).astype(float)
    return Case(truth, model, [Seen(counts, kind="poisson")], {"data.csv": table(day=days, cases=counts)})


# ---------------------------------------------------------------- ordinary differential equations, hard


@problem("robertson", "ODE, hard", "hard", "stiff: rates from 0.04 to 3e7, times from 1e-3 to 1e4 s")
def robertson(rng):
    truth = dict(k1=0.04, k2=3e7, k3=1e4)
    t = np.logspace(-3, 4, 29)

    def model(p):
        def rates(_, y):
            a, b, c = p["k1"] * y[0], p["k2"] * y[1] ** 2, p["k3"] * y[1] * y[2]
            return [-a + c, a - b - c, b]

        y = ode(rates, [1.0, 0.0, 0.0], t, method="Radau", rtol=1e-10, atol=1e-14)
        return [y[0], y[1], y[2]]

    exact = model(truth)
    a, b, c = noisy(rng, exact[0], 0.01), noisy(rng, exact[1], 1e-6), noisy(rng, exact[2], 0.01)
    seen = [Seen(a, 0.01), Seen(b, 1e-6), Seen(c, 0.01)]
    return Case(truth, model, seen, {"data.csv": table(t=t, A=a, B=b, C=c)})


@problem("van-der-pol", "ODE, hard", "hard", "relaxation oscillation, mu near 20")
def van_der_pol(rng):
    truth = dict(mu=19.2, w=1.04)
    t = np.arange(1, 121) * 0.6

    def model(p):
        rates = lambda _, y: [y[1], p["mu"] * (1 - y[0] ** 2) * y[1] - p["w"] ** 2 * y[0]]
        return [ode(rates, [2.0, 0.0], t, method="LSODA", rtol=1e-10)[0]]

    x = noisy(rng, model(truth)[0], 0.05)
    return Case(truth, model, [Seen(x, 0.05)], {"data.csv": table(t=t, x=x)})


@problem("fitzhugh-nagumo", "ODE, hard", "hard", "the nerve model with large errors (Ramsay et al. 2007)")
def fitzhugh_nagumo(rng):
    truth = dict(a=0.2, b=0.2, c=3.0)
    t = np.arange(1, 41) * 0.5

    def model(p):
        rates = lambda _, y: [p["c"] * (y[0] - y[0] ** 3 / 3 + y[1]), -(y[0] - p["a"] + p["b"] * y[1]) / p["c"]]
        return list(ode(rates, [-1.0, 1.0], t))

    v, r = [noisy(rng, s, 0.25) for s in model(truth)]
    return Case(truth, model, [Seen(v), Seen(r)], {"data.csv": table(t=t, V=v, R=r)})


@problem("roessler", "ODE, hard", "hard", "two turns of the Roessler attractor, x alone is seen")
def roessler(rng):
    truth = dict(a=0.2, b=0.2, c=5.7)
    t = np.arange(1, 76) * 0.2

    def model(p):
        rates = lambda _, y: [-y[1] - y[2], y[0] + p["a"] * y[1], p["b"] + y[2] * (y[0] - p["c"])]
        return [ode(rates, [2.0, -6.0, 0.05], t, rtol=1e-10)[0]]

    x = noisy(rng, model(truth)[0], 0.2)
    return Case(truth, model, [Seen(x, 0.2)], {"data.csv": table(t=t, x=x)})


@problem("glucose", "ODE, hard", "hard", "Bergman's minimal model: insulin action is never seen, the starting glucose is unknown")
def glucose(rng):
    truth = dict(p1=0.026, p2=0.025, p3=1.3e-5, G0=279.0)
    t = np.array([2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 19, 22, 25, 27, 30, 35, 40, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180.0])

    def model(p):
        insulin = lambda s: 7.0 + 120.0 * np.exp(-s / 12.0) + 45.0 * np.exp(-((s - 30.0) ** 2) / 200.0)
        rates = lambda s, y: [-p["p1"] * (y[0] - 92.0) - y[1] * y[0], -p["p2"] * y[1] + p["p3"] * (insulin(s) - 7.0)]
        return [ode(rates, [p["G0"], 0.0], t, atol=1e-12, max_step=5.0)[0]]

    g = np.array(rounded(model(truth)[0] + 3.0 * rng.standard_normal(len(t)), 4))
    return Case(truth, model, [Seen(g, 3.0)], {"data.csv": table(t=t, G=g)})


# ---------------------------------------------------------------- diffusion in one dimension


@problem("wall-convection", "diffusion, 1D", "easy", "a concrete wall in SI units, heated on one side, convection on the other")
def wall_convection(rng):
    truth = dict(lam=1.63, h=9.1)
    x, t = np.linspace(0, 0.24, 481), np.arange(1, 25) * 3600.0
    probes = np.array([0.04, 0.10, 0.16, 0.24])

    def model(p):
        start = np.full(len(x), 18.0)
        start[0] = 60.0
        u = slab(x, start, t, lambda u, s, _: -p["lam"] * s, right=lambda u, _: p["h"] * (u - 18.0), capacity=2.05e6)
        return [at(x, u, probes).ravel()]

    T = noisy(rng, model(truth)[0], 0.3)
    xs, ts = np.repeat(probes, len(t)), np.tile(t, len(probes))
    return Case(truth, model, [Seen(T, 0.3)], {"data.csv": table(x=xs, t=ts, T=T)})


# more
if __name__ == "__main__":
    for name in sys.argv[1:] or PROBLEMS:
        make(name)
