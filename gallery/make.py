#!/usr/bin/env python3
"""Data and reference answers of the gallery.

    python gallery/make.py [NAME ...]

Every problem is a function, below or in `more_reactions.py` and `more_fields.py`: it states the truth, a solver of its own (SciPy or a closed
form), and what an instrument would have read. Written are the data (`*.csv`) and `reference.json`; the latter has the truth, the optimum of an
independent fit to the very same data and its standard deviations. Needs NumPy and SciPy. Nothing here uses the program that the gallery tests.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline, CubicSpline
from scipy.optimize import least_squares, minimize
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
            return np.maximum(2 * (value - data + np.where(data > 0, data * np.log(np.maximum(data, 1e-300) / value), 0)), 0)
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

    `start` is where the fit begins, if not at the truth; `step` is the relative step of its differences, if not SciPy's; `rough` asks for a sample in place of the
    curvature. A case with an `answer` of its own is not fitted."""

    def __init__(self, truth, model, seen, files, start=None, step=None, rough=False):
        self.truth, self.model, self.seen, self.files, self.step, self.rough = truth, model, seen, files, step, rough
        self.start = start or truth


def fit(case):
    names = list(case.truth)
    scale = np.array([abs(case.truth[n]) or 1.0 for n in names])
    values = lambda p: case.model(dict(zip(names, p * scale)))
    residuals = lambda p: np.concatenate([s.residuals(v) for s, v in zip(case.seen, values(p))])
    p = np.array([case.start[n] for n in names]) / scale
    for s, v in zip(case.seen, values(p)):
        if s.estimated:
            s.sigma = s.sigma * np.sqrt(np.mean(s.loss(v)))
    for _ in range(30):
        before = [s.sigma.flat[0] for s in case.seen]
        found = least_squares(residuals, p, jac="3-point", diff_step=case.step, x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12)
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


def splines(low, high, n):
    """Cubic B-splines on even knots, and the matrix of second differences of coefficients."""
    knots = np.concatenate([np.full(3, low), np.linspace(low, high, n - 2), np.full(3, high)]).astype(float)
    basis = lambda s: BSpline(knots, np.eye(n), 3)(np.clip(s, low, high))
    return basis, np.diff(np.eye(n), 2, axis=0)


def fit_function(name, of, nodes, true, values, model, seen, start, penalty):
    """Penalised splines, as smooth as the errors of the data allow (Morozov's discrepancy principle)."""
    count = sum(len(s.data) for s in seen)
    misfit = lambda a: np.concatenate([s.residuals(v) for s, v in zip(seen, model(a))])
    a, chosen = np.array(start, float), None
    for weight in 10.0 ** np.arange(5, -4, -0.5):
        a = least_squares(lambda a: np.concatenate([misfit(a), np.sqrt(weight) * (penalty @ a)]), a, xtol=1e-8, ftol=1e-8).x
        chosen = a
        if np.sum(misfit(a) ** 2) <= count + np.sqrt(2 * count):
            break
    found = values(chosen)
    error = float(np.sqrt(np.sum((found - true) ** 2) / np.sum(true**2)))
    function = {"of": of, "error": error, "at": rounded(nodes), "truth": rounded(true), "optimum": rounded(found)}
    print(f"  {name}: relative error {error:.3g}, penalty {weight:g}, deviance {np.sum(misfit(chosen) ** 2):.1f} of {count}")
    return {"truth": {}, "optimum": {}, "sd": {}, "functions": {name: function}}


def sample(case, answer, steps=2500):
    """For rough likelihoods: the best point and the standard deviations of a random walk by Metropolis."""
    rng, names = np.random.default_rng(0), list(case.truth)
    deviance = lambda p: sum(np.sum(s.loss(v)) for s, v in zip(case.seen, case.model(dict(zip(names, p)))))
    p = np.array([answer["optimum"][n] for n in names])
    now, best, chain = deviance(p), (np.inf, p), []
    step = np.diag([answer["sd"][n] for n in names])
    for i in range(steps):
        q = p + step @ rng.standard_normal(len(p)) * (1.0 if i < 500 else 1.7 / np.sqrt(len(p)))
        new = deviance(q)
        if np.log(rng.uniform()) < (now - new) / 2:
            p, now = q, new
        best = min(best, (now, p), key=lambda b: b[0])
        chain.append(p)
        if i in (500, 1000):
            step = np.linalg.cholesky(np.cov(np.array(chain[i // 2 :]).T) + 1e-12 * np.eye(len(p)))
    polished = minimize(deviance, best[1], method="Nelder-Mead", options=dict(xatol=1e-6, fatol=1e-6))
    answer["optimum"] = dict(zip(names, polished.x.tolist()))
    answer["sd"] = dict(zip(names, np.std(chain[1000:], axis=0).tolist()))
    answer["deviance"] = float(polished.fun)
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
    if case.rough:
        answer = sample(case, answer)
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


def slab(x, start, times, flux, source=None, left=None, right=None, capacity=1.0, atol=1e-9, max_step=np.inf):
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

    return ode(rates, start, times, atol=atol, rtol=1e-9, lband=1, uband=1, max_step=max_step)


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
    return Case(truth, model, [Seen(x, 0.05)], {"data.csv": table(t=t, x=x)}, rough=True)


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


@problem("two-layers", "diffusion, 1D", "hard", "conductivity jumps inside the wall")
def two_layers(rng):
    truth = dict(lam1=0.77, lam2=0.14)
    x, t = np.linspace(0, 0.20, 401), np.arange(1, 73) * 3600.0
    probes = np.array([0.05, 0.12, 0.16])
    first = (x[1:] + x[:-1]) / 2 < 0.12
    capacity = np.where(x < 0.12, 1.5e6, 4e5)
    capacity[np.isclose(x, 0.12)] = (1.5e6 + 4e5) / 2

    def model(p):
        lam = np.where(first, p["lam1"], p["lam2"])
        h = x[1] - x[0]

        def rates(s, u):
            u = np.concatenate([[20 + 5 * np.sin(2 * np.pi * s / 86400)], u, [8.0]])
            f = -lam * (u[1:] - u[:-1]) / h
            return -(f[1:] - f[:-1]) / h / capacity[1:-1]

        u = ode(rates, (20 - 12 * x / 0.20)[1:-1], t, atol=1e-8, lband=1, uband=1, max_step=1800.0)
        return [u[np.round(probes / h).astype(int) - 1].ravel()]

    T = noisy(rng, model(truth)[0], 0.1)
    return Case(truth, model, [Seen(T, 0.1)], {"data.csv": table(x=np.repeat(probes, len(t)), t=np.tile(t, 3), T=T)})


@problem("gel-profile", "diffusion, 1D", "hard", "unknown function D(x) from five sensors")
def gel_profile(rng):
    x, t = np.linspace(0, 1, 201), np.arange(1, 25) * 0.5
    sensors = np.array([0.15, 0.35, 0.55, 0.75, 0.95])
    true = lambda s: 0.05 * (1 + 0.6 * np.tanh((s - 0.5) / 0.15))
    basis, penalty = splines(0, 1, 16)
    faces = (x[1:] + x[:-1]) / 2
    start = np.zeros(len(x))
    start[0] = 1.0

    def solve(D):
        u = slab(x, start, t, lambda u, s, _: -D * s, right=lambda u, _: 0.0)
        return [at(x, u, sensors).ravel()]

    c = noisy(rng, solve(true(faces))[0], 0.01)
    nodes = np.linspace(0, 1, 101)
    answer = fit_function("D", "x", nodes, true(nodes), lambda a: np.exp(basis(nodes) @ a), lambda a: solve(np.exp(basis(faces) @ a)), [Seen(c, 0.01)], np.full(16, np.log(0.05)), penalty)
    case = Case({}, None, [], {"data.csv": table(x=np.repeat(sensors, len(t)), t=np.tile(t, 5), c=c)})
    case.answer = answer
    return case


@problem("quench-flux", "diffusion, 1D", "hard", "the inverse heat conduction problem: an unknown flux over time")
def quench_flux(rng):
    x, t = np.linspace(0, 0.02, 201), np.arange(1, 121) * 0.5
    true = lambda s: 2e5 * np.clip(np.minimum((s - 10) / 15, (45 - s) / 20), 0, None)
    basis, penalty = splines(0, 60, 24)
    probes = np.array([0.002, 0.02])

    def solve(q):
        u = slab(x, np.full(len(x), 25.0), t, lambda u, s, _: -45.0 * s, left=lambda u, s: q(s), right=lambda u, _: 0.0, capacity=3.6e6, atol=1e-7, max_step=0.5)
        return [at(x, u, probes).ravel()]

    T = noisy(rng, solve(true)[0], 0.3)
    nodes = np.linspace(0, 60, 121)
    rest = solve(lambda s: 0.0)[0]  # the problem is linear: one solution for each coefficient
    columns = np.array([solve(lambda s, k=k: 1e5 * basis(min(s, 60.0))[k])[0] - rest for k in range(24)]).T
    answer = fit_function("q", "t", nodes, true(nodes), lambda a: 1e5 * basis(nodes) @ a, lambda a: [rest + columns @ a], [Seen(T, 0.3)], np.full(24, 0.5), penalty)
    case = Case({}, None, [], {"data.csv": table(x=np.repeat(probes, len(t)), t=np.tile(t, 2), T=T)})
    case.answer = answer
    return case


@problem("drying", "diffusion, 1D", "easy", "diffusivity that depends on the moisture; only the weight is seen")
def drying(rng):
    truth = dict(D0=1.1e-11, a=7.6)
    x, t = np.linspace(0, 0.01, 401), np.arange(1, 31) * 8e4
    start = np.full(len(x), 0.26)
    start[-1] = 0.06

    def model(p):
        u = slab(x, start, t, lambda u, s, _: -p["D0"] * np.exp(p["a"] * u) * s, left=lambda u, _: 0.0, atol=1e-10)
        return [np.trapezoid(u, x, axis=0) / 0.01]

    m = noisy(rng, model(truth)[0], 0.0015)
    return Case(truth, model, [Seen(m, 0.0015)], {"data.csv": table(t=t, moisture=m)})


@problem("hidden-heater", "diffusion, 1D", "easy", "strength and place of a heat source in a bar")
def hidden_heater(rng):
    truth = dict(Q=3.7e5, xs=0.19)
    x, t = np.linspace(0, 0.3, 601), np.arange(1, 13) * 300.0
    probes = np.array([0.05, 0.10, 0.15, 0.25])

    def model(p):
        heat = p["Q"] * np.exp(-((x - p["xs"]) ** 2) / (2 * 0.015**2))
        u = slab(x, np.full(len(x), 20.0), t, lambda u, s, _: -52.0 * s, source=lambda *_: heat, capacity=3.6e6)
        return [at(x, u, probes).ravel()]

    T = noisy(rng, model(truth)[0], 0.1)
    return Case(truth, model, [Seen(T, 0.1)], {"data.csv": table(x=np.repeat(probes, len(t)), t=np.tile(t, 4), T=T)})


@problem("radiation", "diffusion, 1D", "easy", "a ceramic plate cools by radiation: T^4 in a boundary condition")
def radiation(rng):
    truth = dict(k=2.1, eps=0.83)
    x, t = np.linspace(0, 0.02, 201), np.arange(1, 41) * 30.0
    probes = np.array([0.0, 0.01, 0.02])

    def model(p):
        out = lambda u, _: p["eps"] * 5.67e-8 * (u**4 - 293.0**4)
        u = slab(x, np.full(len(x), 1100.0), t, lambda u, s, _: -p["k"] * s, left=lambda u, _: 0.0, right=out, capacity=3.1e6, atol=1e-6)
        return [at(x, u, probes).ravel()]

    T = noisy(rng, model(truth)[0], 2.0)
    return Case(truth, model, [Seen(T, 2.0)], {"data.csv": table(x=np.repeat(probes, len(t)), t=np.tile(t, 3), T=T)})


# ---------------------------------------------------------------- reaction and diffusion


@problem("allee-front", "reaction-diffusion", "easy", "a bistable front with an unknown threshold")
def allee_front(rng):
    truth = dict(D=0.52, r=1.1, a=0.23)
    x, t = np.linspace(0, 50, 1001), np.array([1.0, 3, 8, 20, 40])
    places = np.arange(0, 51, 2.0)

    def model(p):
        grow = lambda _, u, s: p["r"] * u * (1 - u) * (u - p["a"])
        u = slab(x, 1 / (1 + np.exp((x - 15) / 3)), t, lambda u, s, _: -p["D"] * s, source=grow, left=lambda u, _: 0.0, right=lambda u, _: 0.0, atol=1e-10)
        return [at(x, u, places).ravel()]

    u = noisy(rng, model(truth)[0], 0.02)
    return Case(truth, model, [Seen(u)], {"data.csv": table(x=np.repeat(places, len(t)), t=np.tile(t, len(places)), u=u)})


@problem("wound-closure", "reaction-diffusion", "easy", "Fisher's equation in SI units: 1e-13, 1e-5 and 1e9 in one file")
def wound_closure(rng):
    truth = dict(D=2.9e-13, r=1.25e-5, K=1.7e9)
    x, t = np.linspace(0, 2e-3, 801), np.array([12, 24, 36, 48]) * 3600.0
    places = np.linspace(2.5e-5, 1.975e-3, 40)
    start = 0.9e9 * (1 - (np.tanh((x - 0.7e-3) / 3e-5) - np.tanh((x - 1.3e-3) / 3e-5)) / 2)

    def model(p):
        grow = lambda _, c, s: p["r"] * c * (1 - c / p["K"])
        c = slab(x, start, t, lambda c, s, _: -p["D"] * s, source=grow, left=lambda c, _: 0.0, right=lambda c, _: 0.0, atol=1.0)
        return [at(x, c, places).ravel()]

    c = noisy(rng, model(truth)[0], 6e7)
    return Case(truth, model, [Seen(c)], {"data.csv": table(x=np.repeat(places, len(t)), t=np.tile(t, len(places)), cells=c)})


@problem("schnakenberg", "reaction-diffusion", "hard", "a pattern that forms: three parameters from two snapshots")
def schnakenberg(rng):
    truth = dict(a=0.12, b=0.88, Dv=11.5)
    n, gamma = 200, 200.0
    x, t = np.linspace(0, 1, n + 1), np.array([0.05, 0.3])
    places = np.linspace(0, 1, 41)

    def model(p):
        h = 1 / n

        def lap(u):
            e = np.concatenate([[u[1]], u, [u[-2]]])
            return (e[2:] - 2 * u + e[:-2]) / h**2

        def rates(_, y):
            u, v = y[::2], y[1::2]
            r = np.empty_like(y)
            r[::2] = lap(u) + gamma * (p["a"] - u + u**2 * v)
            r[1::2] = p["Dv"] * lap(v) + gamma * (p["b"] - u**2 * v)
            return r

        start = np.empty(2 * n + 2)
        start[::2], start[1::2] = 1 + 0.1 * np.cos(np.pi * x) + 0.1 * np.cos(4 * np.pi * x), 0.9
        y = ode(rates, start, t, lband=2, uband=2, atol=1e-10)
        return [at(x, y[::2], places).ravel()]

    u = noisy(rng, model(truth)[0], 0.05)
    return Case(truth, model, [Seen(u, 0.05)], {"data.csv": table(x=np.repeat(places, 2), t=np.tile(t, 41), u=u)})


# ---------------------------------------------------------------- waves and transport


@problem("plucked-string", "waves and transport", "hard", "a string plucked into a corner, one pick-up")
def plucked_string(rng):
    truth = dict(v=141.3, b=38.0)
    L, pluck, t = 0.65, 0.13, np.arange(1, 151) * 2e-4
    n = np.arange(1, 1500)
    shape = 2 * 0.002 * L**2 / (np.pi**2 * n**2 * pluck * (L - pluck)) * np.sin(n * np.pi * pluck / L)

    def model(p):
        w = np.sqrt((n * np.pi * p["v"] / L) ** 2 - p["b"] ** 2 / 4)
        modes = np.cos(np.outer(t, w)) + p["b"] / 2 / w * np.sin(np.outer(t, w))
        return [np.exp(-p["b"] * t / 2) * (modes @ (shape * np.sin(n * np.pi * 0.2 / L)))]

    u = noisy(rng, model(truth)[0], 2e-5)
    return Case(truth, model, [Seen(u, 2e-5)], {"data.csv": table(t=t, u=u)})


@problem("second-sound", "waves and transport", "easy", "the telegraph equation: a heat pulse that travels and spreads")
def second_sound(rng):
    truth = dict(tau=0.61, alpha=1.35)
    x, t = np.linspace(0, 10, 1001), np.arange(1, 41) * 0.2
    probes = np.array([1.0, 2.0, 4.0])
    h = x[1] - x[0]

    def model(p):
        def rates(s, y):
            u, w = y[::2], y[1::2]
            edge = np.sin(np.pi * s / 2) ** 2 if s < 2 else 0.0
            e = np.concatenate([[edge], u, [0.0]])
            r = np.empty_like(y)
            r[::2] = w
            r[1::2] = (p["alpha"] * (e[2:] - 2 * u + e[:-2]) / h**2 - w) / p["tau"]
            return r

        y = ode(rates, np.zeros(2 * (len(x) - 2)), t, method="DOP853", atol=1e-9, max_step=0.1)
        return [y[::2][np.round(probes / h).astype(int) - 1].ravel()]

    T = noisy(rng, model(truth)[0], 0.01)
    return Case(truth, model, [Seen(T, 0.01)], {"data.csv": table(x=np.repeat(probes, len(t)), t=np.tile(t, 3), T=T)})


@problem("river-tracer", "waves and transport", "hard", "advection, dispersion and decay; samples are means over five minutes")
def river_tracer(rng):
    truth = dict(U=0.61, D=7.4, k=1.1e-4)
    stations = [(1000.0, np.arange(600, 2401, 150.0)), (1800.0, np.arange(1800, 3601, 150.0)), (2400.0, np.arange(2400, 3901, 150.0))]

    def model(p):
        def value(x, s):
            var = 50.0**2 + 2 * p["D"] * s
            return 40 * 50 / np.sqrt(var) * np.exp(-((x - 300 - p["U"] * s) ** 2) / (2 * var) - p["k"] * s)

        nodes, weights = np.polynomial.legendre.leggauss(12)
        return [np.concatenate([value(x, t[:, None] - 150 + 150 * nodes) @ weights / 2 for x, t in stations])]

    c = noisy(rng, model(truth)[0], 0.25)
    x, t = np.concatenate([np.full(len(t), x) for x, t in stations]), np.concatenate([t for _, t in stations])
    return Case(truth, model, [Seen(c, 0.25)], {"data.csv": table(x=x, t=t, c=c)})


@problem("burgers-shock", "waves and transport", "hard", "a viscous shock of width 0.01")
def burgers_shock(rng):
    truth = dict(nu=0.0052)
    x, t = np.array([-0.75, -0.5, -0.25, -0.1, -0.05, -0.02, -0.01, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75]), np.array([0.3, 0.6, 0.9])
    eta = np.linspace(-2, 2, 8001)

    def model(p):  # Cole and Hopf
        out = []
        for place in x:
            for s in t:
                y = place - eta
                e = -np.cos(np.pi * y) / (2 * np.pi * p["nu"]) - eta**2 / (4 * p["nu"] * s)
                f = np.exp(e - e.max())
                out.append(-np.sum(np.sin(np.pi * y) * f) / np.sum(f))
        return [np.array(out)]

    u = noisy(rng, model(truth)[0], 0.02)
    return Case(truth, model, [Seen(u, 0.02)], {"data.csv": table(x=np.repeat(x, 3), t=np.tile(t, len(x)), u=u)})


@problem("kdv", "waves and transport", "hard", "third order: a hump that breaks up into solitary waves")
def kdv(rng):
    truth = dict(a=1.06, b=0.23)
    n, L, t = 192, 40.0, np.array([4.0, 8.0])
    x = np.arange(n) * L / n
    k = 2 * np.pi / L * np.fft.rfftfreq(n, 1 / n)
    keep = k < 2 / 3 * k.max()

    def model(p):
        def rates(s, z):
            shift = np.exp(1j * p["b"] * k**3 * s)
            u = np.fft.irfft((z[: len(k)] + 1j * z[len(k) :]) * shift, n)
            r = -0.5j * p["a"] * k * np.fft.rfft(u**2) * keep / shift
            return np.concatenate([r.real, r.imag])

        z = np.fft.rfft(1.8 * np.exp(-(((x - 12) / 2.5) ** 2)))
        z = ode(rates, np.concatenate([z.real, z.imag]), t, method="DOP853", rtol=1e-9, atol=1e-9)
        u = [np.fft.irfft((z[: len(k), j] + 1j * z[len(k) :, j]) * np.exp(1j * p["b"] * k**3 * s), n) for j, s in enumerate(t)]
        return [np.array(u)[:, ::4].T.ravel()]

    u = noisy(rng, model(truth)[0], 0.03)
    return Case(truth, model, [Seen(u, 0.03)], {"data.csv": table(x=np.repeat(x[::4], 2), t=np.tile(t, n // 4), u=u)})


def beam(EI, kf, q, places):
    """Cantilever of 3 m on an elastic foundation: EI w'''' + kf w = q."""
    root = (kf / EI) ** 0.25 / np.sqrt(2) * np.array([1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j])
    shift = np.where(root.real > 0, 3.0, 0.0)
    term = lambda x, order: root**order * np.exp(root * (x - shift))
    system = np.array([term(0, 0), term(0, 1), term(3, 2), term(3, 3)])
    c = np.linalg.solve(system, np.array([-q / kf, 0, 0, 0], complex))
    return np.array([q / kf + (term(x, 0) @ c).real for x in places])


@problem("beam", "waves and transport", "easy", "fourth order: stiffness of a beam and of the soil under it")
def beam_on_soil(rng):
    truth = dict(EI=4.6e6, kf=2.3e5)
    x = np.arange(1, 13) * 0.25
    model = lambda p: [beam(p["EI"], p["kf"], 12e3, x)]
    w = noisy(rng, model(truth)[0], 2e-5)
    return Case(truth, model, [Seen(w, 2e-5)], {"data.csv": table(x=x, w=w)})


# ---------------------------------------------------------------- steady, two dimensions


def modes(n=60, m=240):
    """Sine modes of the unit square, and their coefficients of a Gaussian bump."""
    k = np.arange(1, n + 1)
    s = (np.arange(m) + 0.5) / m
    sines = np.sin(np.pi * np.outer(k, s)) * 2 / m
    bump = lambda x0, y0, w: np.outer(sines @ np.exp(-((s - x0) ** 2) / (2 * w**2)), sines @ np.exp(-((s - y0) ** 2) / (2 * w**2)))
    value = lambda c, x, y: np.einsum("kp,kl,lp->p", np.sin(np.pi * np.outer(k, x)), c, np.sin(np.pi * np.outer(k, y)))
    return np.pi**2 * (k[:, None] ** 2 + k**2), bump, value


@problem("plate-source", "steady, 2D", "easy", "Poisson's equation with a bump of unknown place and strength")
def plate_source(rng):
    truth = dict(Q=61.0, x0=0.63, y0=0.34)
    laplace, bump, value = modes()
    g = np.arange(1, 6) / 6
    x, y = np.repeat(g, 5), np.tile(g, 5)
    model = lambda p: [value(p["Q"] * bump(p["x0"], p["y0"], 0.1) / laplace, x, y)]
    u = noisy(rng, model(truth)[0], 0.01)
    return Case(truth, model, [Seen(u, 0.01)], {"data.csv": table(x=x, y=y, u=u)})


@problem("membrane", "steady, 2D", "hard", "Helmholtz's equation with damping: amplitude and phase of a driven membrane")
def membrane(rng):
    truth = dict(k=8.62, g=3.1)
    laplace, bump, value = modes(40, 160)
    s = np.arange(1, 7) / 7
    x, y = np.repeat(s, 6), np.tile(s, 6)

    def model(p):
        c = 100 * bump(0.3, 0.4, 0.1) / (laplace - p["k"] ** 2 - 1j * p["g"])
        return [value(c.real, x, y), value(c.imag, x, y)]

    re, im = [noisy(rng, v, 0.01) for v in model(truth)]
    return Case(truth, model, [Seen(re, 0.01), Seen(im, 0.01)], {"data.csv": table(x=x, y=y, re=re, im=im)})


# ---------------------------------------------------------------- observations that are not values


@problem("drug-release", "observations that are not values", "easy", "what is left in a film: an integral over the thickness")
def drug_release(rng):
    truth = dict(D=163.0, h=4.4)
    x, t = np.linspace(0, 100, 401), np.array([1, 2, 4, 6, 8, 12, 16, 24, 30, 36, 48, 60, 72.0])

    def model(p):
        c = slab(x, np.ones(len(x)), t, lambda u, s, _: -p["D"] * s, left=lambda u, _: 0.0, right=lambda u, _: p["h"] * u)
        return [np.trapezoid(c, x, axis=0)]

    m = noisy(rng, model(truth)[0], 0.8)
    return Case(truth, model, [Seen(m, 0.8)], {"data.csv": table(t=t, mass=m)})


@problem("permeation", "observations that are not values", "easy", "a flux at a wall, with a background")
def permeation(rng):
    truth = dict(D=6.2e-10, c1=2.15, leak=4.1e-8)
    t = np.arange(1, 61) * 50.0
    n = np.arange(1, 200)[:, None]

    def model(p):
        decay = np.sum((-1.0) ** n * np.exp(-p["D"] * n**2 * np.pi**2 * t / 1e-6), axis=0)
        return [p["D"] * p["c1"] / 1e-3 * (1 + 2 * decay) + p["leak"]]

    j = noisy(rng, model(truth)[0], 1.5e-8)
    return Case(truth, model, [Seen(j)], {"data.csv": table(t=t, flux=j)})


@problem("heat-wave-rod", "observations that are not values", "easy", "Angstrom's method with the difference of two thermocouples")
def heat_wave_rod(rng):
    truth = dict(alpha=3.45e-5, m=2.2e-3)
    x, t = np.linspace(0, 0.2, 401), np.arange(1, 121) * 5.0
    h = x[1] - x[0]

    def model(p):
        def rates(s, u):
            e = np.concatenate([[10 * np.sin(2 * np.pi * s / 120)], u, [u[-2]]])
            return p["alpha"] * (e[2:] - 2 * u + e[:-2]) / h**2 - p["m"] * u

        u = ode(rates, np.zeros(len(x) - 1), t, lband=1, uband=1, max_step=5.0)
        return [u[round(0.03 / h) - 1] - u[round(0.08 / h) - 1]]

    d = noisy(rng, model(truth)[0], 0.05)
    return Case(truth, model, [Seen(d, 0.05)], {"data.csv": table(t=t, dT=d)})


@problem("plate-reader", "observations that are not values", "easy", "growth seen through a gain and an offset")
def plate_reader(rng):
    truth = dict(r=0.83, gain=1.37, blank=0.089)
    t = np.arange(0, 61) * 0.25
    model = lambda p: [p["gain"] / (1 + (1 / 0.004 - 1) * np.exp(-p["r"] * t)) + p["blank"]]
    od = noisy(rng, model(truth)[0], 0.012)
    return Case(truth, model, [Seen(od)], {"data.csv": table(t=t, OD=od)})


@problem("flip-flop", "observations that are not values", "flawed", "with an unknown gain the two rates can change places: an alarm is right", expected_verdict=["orange", "red"])
def flip_flop(rng):
    truth = dict(k1=0.31, k2=0.083, gain=2.4)
    t = np.arange(1, 31) * 1.0
    model = lambda p: [p["gain"] * p["k1"] / (p["k2"] - p["k1"]) * (np.exp(-p["k1"] * t) - np.exp(-p["k2"] * t))]
    s = noisy(rng, model(truth)[0], 0.02)
    return Case(truth, model, [Seen(s, 0.02)], {"data.csv": table(t=t, signal=s)})


# ---------------------------------------------------------------- statistics


def spring(p, t):
    w = np.sqrt(p["k"] / 0.5 - (p["c"] / 1.0) ** 2 + 0j)
    return (0.05 * np.exp(-p["c"] * t) * (np.cos(w * t) + p["c"] / w * np.sin(w * t))).real


@problem("spring-dropouts", "counts, images, outliers", "flawed", "five percent of the readings are gross errors; Student's likelihood")
def spring_dropouts(rng):
    truth = dict(k=21.3, c=0.24)
    t = np.arange(1, 121) * 0.05
    model = lambda p: [spring(p, t)]
    u = model(truth)[0] + 5e-4 * rng.standard_normal(len(t))
    bad = rng.choice(len(t), 6, replace=False)
    u[bad] += rng.uniform(-0.05, 0.05, 6)
    u = np.array(rounded(u))
    return Case(truth, model, [Seen(u, 5e-4, "student")], {"data.csv": table(t=t, u=u)})


def tube(p, x, t):
    """Dye in a closed tube of 20 cm from cos-shaped start: closed form."""
    out = 0.5 * np.ones_like(x)
    return (out + 0.4 * np.cos(np.pi * x / 20) * np.exp(-p["D"] * (np.pi / 20) ** 2 * t) + 0.1 * np.cos(3 * np.pi * x / 20) * np.exp(-p["D"] * (3 * np.pi / 20) ** 2 * t)) * np.exp(-p["k"] * t)


def tube_data(rng):
    truth = dict(D=1.45, k=0.021)
    places, times = np.array([1.0, 4, 7, 10, 13, 16, 19]), np.arange(1, 13) * 2.0
    x, t = np.repeat(places, 12), np.tile(times, 7)
    c = tube(truth, x, t) + 0.01 * rng.standard_normal(len(x))
    bad = rng.choice(len(x), 5, replace=False)
    c[bad] += rng.uniform(0.1, 0.4, 5)
    c = np.array(rounded(c))
    return truth, lambda p: [tube(p, x, t)], c, {"data.csv": table(x=x, t=t, c=c)}


@problem("tube-bubbles", "counts, images, outliers", "flawed", "air bubbles spoil some readings; Huber's likelihood")
def tube_bubbles(rng):
    truth, model, c, files = tube_data(rng)
    return Case(truth, model, [Seen(c, 0.01, "huber")], files)


@problem("tube-unaware", "counts, images, outliers", "flawed", "the same bubbles, but the file believes in normal errors: an alarm is right", expected_verdict=["orange", "red"])
def tube_unaware(rng):
    truth, model, c, files = tube_data(rng)
    return Case(truth, model, [Seen(c, 0.01)], files)


@problem("saturated", "counts, images, outliers", "flawed", "a detector that saturates at 4 V")
def saturated(rng):
    truth = dict(k1=0.52, k2=0.094)
    t = np.arange(1, 41) * 1.0
    model = lambda p: [9 * p["k1"] / (p["k2"] - p["k1"]) * (np.exp(-p["k1"] * t) - np.exp(-p["k2"] * t))]
    v = np.minimum(noisy(rng, model(truth)[0], 0.08), 4.0)
    return Case(truth, model, [Seen(v, 0.08, "censored", above=4.0)], {"data.csv": table(t=t, volt=v)})


@problem("tumour-few", "counts, images, outliers", "flawed", "seven usable values for three unknowns, errors of unknown size, gaps", expected_verdict=["orange"])
def tumour_few(rng):
    truth = dict(a=0.11, K=2100.0, V0=46.0)
    days = np.array([3, 7, 10, 14, 17, 21, 24, 28, 35.0])
    gaps = np.array([3, 7])
    t = np.delete(days, gaps)
    model = lambda p: [p["K"] * np.exp(np.log(p["V0"] / p["K"]) * np.exp(-p["a"] * t))]
    v = np.array(rounded(model(truth)[0] * np.exp(0.06 * rng.standard_normal(len(t))), 3))
    volume = np.full(len(days), "NA", object)
    volume[~np.isin(np.arange(len(days)), gaps)] = v
    return Case(truth, model, [Seen(v, kind="lognormal")], {"data.csv": {"day": list(map(float, days)), "mm3": list(volume)}})


@problem("kiln-unaware", "counts, images, outliers", "flawed", "data with radiation, model with convection alone: an alarm is right", expected_verdict=["orange", "red"])
def kiln_unaware(rng):
    truth = dict(h=2.2e-3)
    t = np.arange(1, 61) * 20.0
    true = ode(lambda _, u: -2.2e-3 * (u - 293) - 3.4e-12 * (u**4 - 293.0**4), [1200.0], t)[0]
    model = lambda p: [293 + 907 * np.exp(-p["h"] * t)]
    T = noisy(rng, true, 3.0)
    return Case(truth, model, [Seen(T)], {"data.csv": table(t=t, T=T)}, start=dict(h=0.004))


# ---------------------------------------------------------------- several experiments


@problem("arrhenius", "several experiments", "easy", "one reaction at three temperatures")
def arrhenius(rng):
    truth = dict(k0=0.036, E=84.3e3)
    t = np.arange(1, 16) * 4.0
    temperatures = {"cool": 298.0, "warm": 313.0, "hot": 328.0}
    rate = lambda p, T: p["k0"] * np.exp(-p["E"] / 8.314 * (1 / T - 1 / 313.0))
    model = lambda p: [1.5 / (1 + 1.5 * rate(p, T) * t) for T in temperatures.values()]
    c = [noisy(rng, v, 0.015) for v in model(truth)]
    return Case(truth, model, [Seen(v, 0.015) for v in c], {f"data-{n}.csv": table(t=t, c=v) for n, v in zip(temperatures, c)})


@problem("beam-ratio", "steady, 1D", "flawed", "stiffness and load both unknown: only their ratio is seen, an alarm is right", expected_verdict=["orange", "red"])
def beam_ratio(rng):
    truth = dict(EI=4.6e6, q=12e3)
    x = np.arange(1, 13) * 0.25
    model = lambda p: [p["q"] / p["EI"] * x**2 * (x**2 - 12 * x + 54) / 24]
    w = noisy(rng, model(truth)[0], 2e-5)
    case = Case(truth, model, [Seen(w, 2e-5)], {"data.csv": table(x=x, w=w)})
    shape = model(dict(EI=1.0, q=1.0))[0]
    case.answer = {"truth": truth, "optimum": {}, "sd": {}, "q/EI": float(shape @ w / (shape @ shape))}  # no more than this is seen
    return case


def clean_tube(rng, sigma):
    truth = dict(D=1.45, k=0.021)
    x, t = np.repeat(np.array([1.0, 4, 7, 10, 13, 16, 19]), 12), np.tile(np.arange(1, 13) * 2.0, 7)
    return truth, x, t, noisy(rng, tube(truth, x, t), sigma)


@problem("tube-optimist", "counts, images, outliers", "flawed", "errors are five times as large as stated: an alarm is right", expected_verdict=["orange", "red"])
def tube_optimist(rng):
    truth, x, t, c = clean_tube(rng, 0.01)
    return Case(truth, lambda p: [tube(p, x, t)], [Seen(c, 0.002)], {"data.csv": table(x=x, t=t, c=c)})


@problem("tube-twice", "counts, images, outliers", "flawed", "the same rows are in the file twice: an alarm is right", expected_verdict=["orange", "red"])
def tube_twice(rng):
    truth, x, t, c = clean_tube(rng, 0.01)
    x, t, c = np.tile(x, 2), np.tile(t, 2), np.tile(c, 2)
    return Case(truth, lambda p: [tube(p, x, t)], [Seen(c)], {"data.csv": table(x=x, t=t, c=c)})


@problem("outbreak-gap", "counts, images, outliers", "flawed", "counts that scatter more than Poisson's, with three weeks missing: a second epidemic fits almost as well, an alarm is right", expected_verdict=["orange"])
def outbreak_gap(rng):
    truth = dict(beta=0.41, gamma=0.17, I0=4.0)
    days = np.arange(1, 81.0)
    days = days[(days < 22) | (days > 42)]
    N = 12000.0

    def model(p):
        rates = lambda _, y: [-p["beta"] * y[0] * y[1] / N, p["beta"] * y[0] * y[1] / N - p["gamma"] * y[1]]
        s, i = ode(rates, [N - p["I0"], p["I0"]], days, atol=1e-7)
        return [p["beta"] * s * i / N]

    mean = model(truth)[0]
    counts = rng.poisson(rng.gamma(8, mean / 8)).astype(float)
    return Case(truth, model, [Seen(counts, kind="negative-binomial", dispersion=8.0)], {"data.csv": table(day=days, cases=counts)})


@problem("daphnia", "several experiments", "hard", "zeros and ones: which animals were immobile, at four concentrations")
def daphnia(rng):
    truth = dict(kd=0.055, b=1.9, z=3.1)
    doses = {"low": 2.0, "middle": 4.0, "high": 8.0, "extreme": 16.0}
    t = np.repeat(np.array([6.0, 12, 24, 36, 48]), 10)
    model = lambda p: [1 / (1 + np.exp(-p["b"] * (c * (1 - np.exp(-p["kd"] * t)) - p["z"]))) for c in doses.values()]
    seen = [(rng.uniform(size=len(t)) < v).astype(float) for v in model(truth)]
    return Case(truth, model, [Seen(v, kind="bernoulli") for v in seen], {f"data-{n}.csv": table(t=t, immobile=v) for n, v in zip(doses, seen)})


# ---------------------------------------------------------------- chaos, phase fields, flow, more coordinates


@problem("lorenz", "ODE, hard", "hard", "chaos over eight time units, two of three states seen, guesses ten percent off")
def lorenz(rng):
    truth = dict(sg=10.0, rh=28.0, be=8 / 3)
    t = np.arange(1, 81) * 0.1
    rates = lambda p: lambda _, y: [p["sg"] * (y[1] - y[0]), y[0] * (p["rh"] - y[2]) - y[1], y[0] * y[1] - p["be"] * y[2]]
    model = lambda p: list(ode(rates(p), [1.0, 1.0, 20.0], t, rtol=1e-11, atol=1e-11)[[0, 2]])
    x, z = (noisy(rng, v, 0.5) for v in model(truth))
    return Case(truth, model, [Seen(x, 0.5), Seen(z, 0.5)], {"data.csv": table(t=t, x=x, z=z)})


@problem("hindmarsh-rose", "ODE, hard", "hard", "bursts of a neuron, of which the potential alone is seen")
def hindmarsh_rose(rng):
    truth = dict(I=3.1, r=0.011)
    t = np.arange(1, 251) * 0.4
    rates = lambda p: lambda _, y: [y[1] - y[0] ** 3 + 3 * y[0] ** 2 - y[2] + p["I"], 1 - 5 * y[0] ** 2 - y[1], p["r"] * (4 * (y[0] + 1.6) - y[2])]
    model = lambda p: [ode(rates(p), [-1.0, 0.0, 2.5], t, rtol=1e-11, atol=1e-11)[0]]
    x = noisy(rng, model(truth)[0], 0.05)
    return Case(truth, model, [Seen(x, 0.05)], {"data.csv": table(t=t, x=x)})


def waves(length, linear, nonlinear, start, times, steps, count=128):
    """A periodic equation u_t = linear(k) u + nonlinear(u), by waves and exponential Runge-Kutta of fourth order (Kassam and Trefethen, SIAM J. Sci.
    Comput. 26, 1214, 2005). Returns the places and the states at times that are whole numbers of steps of times[-1]/steps."""
    x, k = np.arange(count) * length / count, 2 * np.pi * np.fft.rfftfreq(count, length / count)
    h, L = times[-1] / steps, linear(k)
    E, half, circle = np.exp(h * L), np.exp(h * L / 2), np.exp(1j * np.pi * (np.arange(32) + 0.5) / 32)
    LR = h * L[:, None] + circle
    mean = lambda f: h * np.real(np.mean(f, axis=1))
    Q, f1 = mean((np.exp(LR / 2) - 1) / LR), mean((-4 - LR + np.exp(LR) * (4 - 3 * LR + LR**2)) / LR**3)
    f2, f3 = mean((2 + LR + np.exp(LR) * (LR - 2)) / LR**3), mean((-4 - 3 * LR - LR**2 + np.exp(LR) * (4 - LR)) / LR**3)
    N = lambda v: nonlinear(k, np.fft.irfft(v, count))
    v, found, wanted = np.fft.rfft(start(x)), [], {round(t / h) for t in times}
    for step in range(1, steps + 1):
        Nv = N(v)
        a = half * v + Q * Nv
        Na = N(a)
        b = half * v + Q * Na
        Nb = N(b)
        Nc = N(half * a + Q * (2 * Nb - Nv))
        v = E * v + f1 * Nv + 2 * f2 * (Na + Nb) + f3 * Nc
        if step in wanted:
            found.append(np.fft.irfft(v, count))
    return x, np.array(found).T


def snapshots(rng, truth, solve, sigma):
    """Every fourth place at all times."""
    x, t, u = solve(truth)
    model = lambda p: [solve(p)[2][::4].ravel()]
    seen = noisy(rng, u[::4].ravel(), sigma)
    X, T = np.meshgrid(x[::4], t, indexing="ij")
    return Case(truth, model, [Seen(seen, sigma)], {"data.csv": table(x=X.ravel(), t=T.ravel(), u=seen)})


@problem("swift-hohenberg", "fourth order and phase fields", "easy", "onset of rolls: distance from threshold and saturation")
def swift_hohenberg(rng):
    t = np.array([2.0, 4.0, 8.0, 12.0])
    start = lambda x: 0.3 * np.cos(x) + 0.2 * np.sin(x / 3) + 0.1 * np.cos(4 * x / 3)
    solve = lambda p: (lambda x, u: (x, t, u))(*waves(6 * np.pi, lambda k: p["r"] - (1 - k**2) ** 2, lambda k, u: -p["g"] * np.fft.rfft(u**3), start, t, 1200))
    return snapshots(rng, dict(r=0.35, g=1.2), solve, 0.02)


@problem("kuramoto-sivashinsky", "fourth order and phase fields", "hard", "a flame front that wrinkles, guesses a quarter off")
def kuramoto_sivashinsky(rng):
    t = np.array([4.0, 8.0, 12.0, 16.0])
    start = lambda x: np.cos(2 * np.pi * x / 22) + 0.5 * np.sin(4 * np.pi * x / 22)
    solve = lambda p: (lambda x, u: (x, t, u))(*waves(22.0, lambda k: k**2 - p["nu"] * k**4, lambda k, u: -0.5j * p["c"] * k * np.fft.rfft(u**2), start, t, 1600))
    return snapshots(rng, dict(nu=1.05, c=0.95), solve, 0.05)


@problem("cahn-hilliard", "fourth order and phase fields", "hard", "an alloy that separates: mobility and interface energy")
def cahn_hilliard(rng):
    t = np.array([0.02, 0.05, 0.1, 0.2])
    start = lambda x: 0.2 * np.cos(2 * np.pi * x) + 0.15 * np.cos(4 * np.pi * x + 1) + 0.1 * np.sin(6 * np.pi * x)
    linear = lambda p: lambda k: p["M"] * (k**2 - p["g"] * k**4)
    solve = lambda p: (lambda x, u: (x, t, u))(*waves(1.0, linear(p), lambda k, u: -p["M"] * k**2 * np.fft.rfft(u**3), start, t, 8000))
    return snapshots(rng, dict(M=1.4, g=0.004), solve, 0.02)


@problem("brinkman-slip", "flow", "easy", "permeability and slip length of a porous layer from velocities across it, SI units")
def brinkman_slip(rng):
    truth = dict(K=3.1e-8, ls=6.5e-5)
    G, mu, H = 2000.0, 1.0e-3, 1.0e-3
    y = np.linspace(0.05e-3, 0.95e-3, 19)

    def model(p):
        a = 1 / np.sqrt(p["K"])
        # u = G K/mu (1 + A cosh(a y) + B sinh(a y)) with u = ls u' at 0 and u = 0 at H
        A_of = np.array([[1.0, -p["ls"] * a], [np.cosh(a * H), np.sinh(a * H)]])
        A, B = np.linalg.solve(A_of, [-1.0, -1.0])
        return [G * p["K"] / mu * (1 + A * np.cosh(a * y) + B * np.sinh(a * y))]

    u = noisy(rng, model(truth)[0], 4e-4)
    return Case(truth, model, [Seen(u)], {"data.csv": table(y=y, u=u)})


@problem("block", "steady, three dimensions", "easy", "three space dimensions, for which there is no second solver: orange is right", expected_verdict=["orange"])
def block(rng):
    truth = dict(D=1.3, k=4.0)
    x, y, z = np.round(rng.uniform(0, 1, (3, 80)), 3)
    s = lambda n, v: np.sin(n * np.pi * v)
    model = lambda p: [10 * s(1, x) * s(1, y) * s(1, z) / (3 * np.pi**2 * p["D"] + p["k"]) + 8 * s(2, x) * s(1, y) * s(1, z) / (6 * np.pi**2 * p["D"] + p["k"])]
    u = noisy(rng, model(truth)[0], 0.003)
    return Case(truth, model, [Seen(u, 0.003)], {"data.csv": table(x=x, y=y, z=z, u=u)})


@problem("plate-cooling", "diffusion, 2D", "easy", "a field of two space coordinates and time at scattered places")
def plate_cooling(rng):
    truth = dict(D=0.8, k=2.0)
    x, y, t = np.round(rng.uniform(0, 1, 120), 3), np.round(rng.uniform(0, 1, 120), 3), np.round(rng.uniform(0.005, 0.1, 120), 4)
    s = lambda n, v: np.sin(n * np.pi * v)
    decay = lambda p, n: np.exp(-(n * np.pi**2 * p["D"] + p["k"]) * t)
    model = lambda p: [decay(p, 5) * s(2, x) * s(1, y) + 2 * decay(p, 2) * s(1, x) * s(1, y)]
    u = noisy(rng, model(truth)[0], 0.01)
    return Case(truth, model, [Seen(u, 0.01)], {"data.csv": table(x=x, y=y, t=t, u=u)})


if __name__ == "__main__":
    sys.dont_write_bytecode = True  # the folder is packaged as it is
    sys.modules["make"] = sys.modules["__main__"]  # what the modules below import: they enter their problems here
    import more_fields, more_reactions

    for name in sys.argv[1:] or PROBLEMS:
        make(name)
