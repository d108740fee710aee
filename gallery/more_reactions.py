"""Reaction and diffusion, switches and nonlinear transport: more problems of the gallery, made by `make.py`.

Fields are solved by waves with an exponential scheme, by Chebyshev collocation or by finite volumes. Steps of differences in the fits are well
above the errors of adaptive solvers.
"""

import numpy as np
from make import Case, Seen, at, noisy, ode, problem, rounded, slab, table
from more_fields import barycentric, chebyshev
from scipy.fft import dct, dctn, idct, idctn

STEP = 1e-4


# ---------------------------------------------------------------- solvers


def exponential(L, N, c, dt, every, count):
    """c_t = L c + N(c) by the exponential Runge-Kutta scheme of fourth order (Kassam and Trefethen, SIAM J. Sci. Comput. 26, 1214, 2005): c after each
    `every` steps, `count` times; nothing if it blows up."""
    E, half = np.exp(dt * L), np.exp(dt * L / 2)
    circle = np.exp(1j * np.pi * (np.arange(1, 33) - 0.5) / 32)
    z = dt * L[..., None] + circle
    mean = lambda f: dt * np.mean(f.real, -1)
    Q, f1 = mean((np.exp(z / 2) - 1) / z), mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3)
    f2, f3 = mean((2 + z + np.exp(z) * (z - 2)) / z**3), mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3)
    found = []
    for _ in range(count):
        for _ in range(every):
            Nc = N(c)
            a = half * c + Q * Nc
            Na = N(a)
            b = half * c + Q * Na
            Nb = N(b)
            c = E * c + f1 * Nc + 2 * f2 * (Na + Nb) + f3 * N(half * a + Q * (2 * Nb - Nc))
        if not np.all(np.isfinite(c)):
            return None
        found.append(c)
    return found


def species(D, k, to, back, waves, reaction, start, dt, every, count):
    """Reaction and diffusion of several species by waves of wave numbers k: values (species, places, times) at the places of the rows of `waves`."""
    with np.errstate(all="ignore"):
        found = exponential(-np.outer(D, k**2), lambda c: to(np.array(reaction(back(c)))), to(np.array(start)), dt, every, count)
    if found is None:
        return np.full((len(D), len(waves), count), 1e6)
    return np.stack([(c @ waves.T).real for c in found], axis=-1)


def closed(D, reaction, start, length, n, dt, every, count, places):
    """`species` without flux through the ends; `start(x)` and `reaction(u)` give one array for each."""
    x, k = (np.arange(n) + 0.5) * length / n, np.pi * np.arange(n) / length
    to, back = lambda u: dct(u, axis=-1, type=2) / n, lambda c: idct(c * n, axis=-1, type=2)
    return species(D, k, to, back, cosines(places, k), reaction, start(x), dt, every, count)


def ring(D, reaction, start, length, n, dt, every, count, places):
    """The same with periodic ends."""
    x, k = np.arange(n) * length / n, 2 * np.pi * np.arange(n // 2 + 1) / length
    to, back = lambda u: np.fft.rfft(u, axis=-1) / n, lambda c: np.fft.irfft(c * n, n=n, axis=-1)
    waves = 2 * np.exp(1j * np.outer(places, k))
    waves[:, [0, -1]] /= 2
    return species(D, k, to, back, waves, reaction, start(x), dt, every, count)


def cosines(places, k):
    """Values at places from the coefficients of a cosine transform."""
    waves = np.cos(np.outer(places, k))
    waves[:, 0] /= 2
    return waves


def rows(places, times):
    """Columns of a table with a row for every place and time."""
    return np.repeat(places, len(times)), np.tile(times, len(places))


def read(rng, value, sigma, digits):
    """Noisy values of an instrument that shows so many digits after the point."""
    return np.array(rounded(np.round(value + sigma * rng.standard_normal(len(value)), digits)))


# ---------------------------------------------------------------- reaction and diffusion


@problem("gray-scott", "reaction-diffusion", "hard", "Pearson's (1993) F = 0.04, k = 0.06: pulses that split; at the guess the catalyst fills the ring")
def gray_scott(rng):
    truth = dict(F=0.04, k=0.06, Dv=1e-5)
    places, times = np.linspace(0, 0.58, 30), np.arange(75.0, 601, 75)

    def start(x):
        bump = np.exp(-(((x - 0.3) / 0.03) ** 2))
        return 1 - 0.5 * bump, 0.25 * bump

    def model(p):
        reaction = lambda w: (-w[0] * w[1] ** 2 + p["F"] * (1 - w[0]), w[0] * w[1] ** 2 - (p["F"] + p["k"]) * w[1])
        u, v = ring([2e-5, p["Dv"]], reaction, start, 0.6, 192, 0.5, 150, 8, places)
        return [u.ravel(), v.ravel()]

    u, v = (noisy(rng, m, 0.02) for m in model(truth))
    x, t = rows(places, times)
    return Case(truth, model, [Seen(u, 0.02), Seen(v, 0.02)], {"data.csv": table(x=x, t=t, u=u, v=v)}, step=STEP)


@problem("brusselator-1d", "reaction-diffusion", "medium", "BRUSS of Hairer and Wanner (A = 1, B = 3, alpha = 1/50): relaxation oscillations between reservoirs, one species seen")
def brusselator(rng):
    truth = dict(A=1.0, B=3.0, alpha=0.02)
    places, times = np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.arange(0.25, 10.01, 0.25)
    n = 32
    x, D = chebyshev(n, 0, 1)
    D2, seen = D @ D, barycentric(x, places)
    start = np.concatenate([1 + np.sin(2 * np.pi * x[1:-1]), np.full(n - 1, 3.0)])

    def model(p):
        def rates(_, y):
            X, Y = np.ones(n + 1), np.full(n + 1, 3.0)
            X[1:-1], Y[1:-1] = y[: n - 1], y[n - 1 :]
            r = X**2 * Y
            return np.concatenate([(p["alpha"] * (D2 @ X) + p["A"] - (p["B"] + 1) * X + r)[1:-1], (p["alpha"] * (D2 @ Y) + p["B"] * X - r)[1:-1]])

        X = np.ones((n + 1, len(times)))
        X[1:-1] = ode(rates, start, times, rtol=1e-10, atol=1e-11)[: n - 1]
        return [(seen @ X).ravel()]

    X = noisy(rng, model(truth)[0], 0.05)
    x_seen, t = rows(places, times)
    return Case(truth, model, [Seen(X, 0.05)], {"data.csv": table(x=x_seen, t=t, X=X)}, step=STEP)


@problem("predator-prey-space", "reaction-diffusion", "hard", "invasion with an oscillating wake (Malchow, Medvinsky et al. 2002); the predator is hidden, errors of 10 %")
def predator_prey(rng):
    truth = dict(gmax=1.0, m=0.2, Dz=0.8)
    places, times = np.linspace(0, 40, 21), np.arange(10.0, 61, 10)
    start = lambda x: (np.full_like(x, 10.0), np.exp(-((x / 3) ** 2)))

    def model(p):
        def reaction(w):
            eaten = p["gmax"] * w[0] * w[1] / (3 + w[0])
            return 0.5 * w[0] * (1 - w[0] / 10) - eaten, 0.5 * eaten - p["m"] * w[1]

        return [closed([0.5, p["Dz"]], reaction, start, 40.0, 96, 0.1, 100, 6, places)[0].ravel()]

    prey = model(truth)[0]
    P = np.array(rounded(prey * np.exp(0.1 * rng.standard_normal(len(prey))), 4))
    x, t = rows(places, times)
    return Case(truth, model, [Seen(P, 0.1, "lognormal")], {"data.csv": table(station_km=x, day=t, P_mg_L=P)}, step=STEP)


@problem("excitable-medium", "reaction-diffusion", "medium", "a travelling pulse with a steep front and a slow tail; recovery is hidden and has no diffusion")
def excitable(rng):
    truth = dict(D=0.1, a=0.1, eps=0.01, gam=0.5)
    places, times = np.array([4.0, 8, 12, 16]), np.arange(2.0, 201, 2)
    start = lambda x: (np.exp(-((x / 2) ** 2)), 0 * x)

    def model(p):
        reaction = lambda w: (w[0] * (w[0] - p["a"]) * (1 - w[0]) - w[1], p["eps"] * (w[0] - p["gam"] * w[1]))
        return [100 * closed([p["D"], 0.0], reaction, start, 20.0, 128, 0.25, 8, 100, places)[0].ravel() - 80]

    V = read(rng, model(truth)[0], 3.0, 1)
    x, t = rows(places, times)
    return Case(truth, model, [Seen(V, 3.0)], {"data.csv": table(x_mm=x, t_ms=t, V_mV=V)}, step=STEP)


@problem("gene-switch", "ODE, hard", "hard", "the toggle switch of Gardner, Cantor and Collins (2000), passing close to the separatrix of its two stable states")
def gene_switch(rng):
    truth = dict(alpha1=10.0, alpha2=8.0, n=2.0, delta=1.0, v0=5.0)
    times = np.arange(0.25, 16.01, 0.25)

    def model(p):
        def rates(_, y):
            u, v = max(y[0], 0.0), max(y[1], 0.0)
            return p["alpha1"] / (1 + v ** p["n"]) - p["delta"] * y[0], p["alpha2"] / (1 + u ** p["n"]) - p["delta"] * y[1]

        return [ode(rates, [4.0, p["v0"]], times, rtol=1e-10, atol=1e-11)[0]]

    u = noisy(rng, model(truth)[0], 0.1)
    return Case(truth, model, [Seen(u, 0.1)], {"data.csv": table(hour=times, gfp=u)}, step=STEP)


@problem("allen-cahn", "fourth order and phase fields", "medium", "two space coordinates and time; only the square of the width matters")
def allen_cahn(rng):
    truth = dict(width=1.2, rate=0.35)
    L, n, times = 30.0, 48, np.array([2.5, 5, 7.5, 10])
    places = (np.arange(16) + 0.5) * 30 / 16
    k = np.pi * np.arange(n) / L
    X, Y = np.meshgrid((np.arange(n) + 0.5) * L / n, (np.arange(n) + 0.5) * L / n, indexing="ij")
    wave = lambda m, s: np.cos(m * np.pi * s / L)
    start = 0.05 + 0.4 * wave(1, X) * wave(2, Y) + 0.3 * wave(3, X) - 0.2 * wave(2, X) * wave(3, Y)
    to, back, seen = lambda u: dctn(u) / n**2, lambda c: idctn(c * n**2), cosines(places, k)

    def model(p):
        linear = p["rate"] * (1 - p["width"] ** 2 * (k[:, None] ** 2 + k[None, :] ** 2))
        found = exponential(linear, lambda c: to(-p["rate"] * back(c) ** 3), to(start), 0.05, 50, len(times))
        return [np.stack([seen @ c @ seen.T for c in found], axis=-1).ravel()]

    u = read(rng, model(truth)[0], 0.1, 3)
    x, y, t = np.meshgrid(places, places, times, indexing="ij")
    return Case(truth, model, [Seen(u, 0.1)], {"data.csv": table(x_um=x, y_um=y, t_s=t, order=u)}, step=STEP)


# ---------------------------------------------------------------- nonlinear transport


@problem("soil-moisture", "diffusion, 1D", "medium", "diffusivity that grows by a factor of 60 behind the wetting front; SI units, a flux at the inlet")
def soil_moisture(rng):
    truth = dict(D0=3.2e-6, m=3.4)
    places, times = np.array([0.02, 0.06, 0.1, 0.15]), np.arange(900.0, 43201, 900)
    x = np.linspace(0, 0.25, 251)

    def model(p):
        def rates(_, w):
            potential = p["D0"] * 0.45 / (p["m"] + 1) * np.maximum(w / 0.45, 1e-9) ** (p["m"] + 1)  # its slope is the flux
            r = -np.diff(np.concatenate([[1e-6], -np.diff(potential) / x[1], [0.0]])) / x[1]
            r[[0, -1]] *= 2
            return r

        return [at(x, ode(rates, np.full(len(x), 0.1), times, rtol=1e-8, atol=1e-10, lband=1, uband=1), places).ravel()]

    theta = read(rng, model(truth)[0], 0.005, 4)
    depth, t = rows(places, times)
    return Case(truth, model, [Seen(theta, 0.005)], {"data.csv": table(depth_m=depth, time_s=t, theta=theta)}, step=STEP)


@problem("radiating-rod", "diffusion, 1D", "easy", "stainless steel (k = 16.2, emissivity 0.7), T^4 and convection in one boundary condition, SI units")
def radiating_rod(rng):
    truth = dict(k=16.2, eps=0.7)
    places, times = np.array([0.005, 0.015, 0.025, 0.035, 0.045]), np.arange(60.0, 3601, 60)
    x = np.linspace(0, 0.05, 101)

    def model(p):
        out = lambda T, t: p["eps"] * 5.670374e-8 * (T**4 - 293.0**4) + 10 * (T - 293)
        T = slab(x, np.full(len(x), 293.0), times, lambda T, slope, t: -p["k"] * slope, left=lambda T, t: 3e4, right=out, capacity=4e6, atol=1e-6)
        return [at(x, T, places).ravel()]

    T = read(rng, model(truth)[0], 1.5, 1)
    depth, t = rows(places, times)
    return Case(truth, model, [Seen(T, 1.5)], {"data.csv": table(depth_m=depth, time_s=t, T_K=T)}, step=STEP)
