"""Sound, currents, traffic, flow and heat: more problems of the gallery, made by `make.py`.

Each solver is held against a finer one or a closed form, and each fit is begun a second time elsewhere; `reference.json` has what came of both.
"""

import numpy as np
from make import Case, Seen, fit, noisy, ode, problem, table
from numpy.polynomial import chebyshev as series
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_sylvester


class Expected(Seen):
    """Counts, or zeros and ones, whose error bars come from the expected information."""

    def information(self, value):
        return 1 / value if self.kind == "poisson" else 1 / np.clip(value * (1 - value), 1e-9, None)


def checked(case, factors, finer=None):
    """The case with its answer and two checks: a fit from the truth times factors, and the values of a finer solver at the truth in units of the errors."""
    other = fit(Case(case.truth, case.model, case.seen, case.files, start={n: v * factors[n] for n, v in case.truth.items()}))
    answer = fit(case)
    apart = max(abs(other["optimum"][n] - answer["optimum"][n]) / answer["sd"][n] for n in case.truth)
    answer["data_count"] = sum(len(s.data) for s in case.seen)
    answer["second_start"] = {"factors_on_truth": factors, "apart_in_sd": apart}
    if finer is not None:
        pairs = zip(case.seen, case.model(case.truth), finer(case.truth))
        answer["solver_error_in_sigma"] = float(max(np.max(np.abs(a - b) * np.sqrt(s.information(a))) for s, a, b in pairs))
    case.answer = answer
    return case


# ---------------------------------------------------------------- solvers


def chebyshev(n, low, high):
    """Nodes from low to high and the matrix of first derivatives (Trefethen, Spectral Methods in MATLAB, chapter 6)."""
    x = np.cos(np.pi * np.arange(n + 1) / n)
    c = np.r_[2, np.ones(n - 1), 2] * (-1.0) ** np.arange(n + 1)
    D = np.outer(c, 1 / c) / (np.subtract.outer(x, x) + np.eye(n + 1))
    D -= np.diag(D.sum(axis=1))
    return low + (x[::-1] + 1) * (high - low) / 2, D[::-1, ::-1] * 2 / (high - low)


def barycentric(nodes, places):
    """The matrix that interpolates from Chebyshev nodes to places."""
    weights = (-1.0) ** np.arange(len(nodes))
    weights[[0, -1]] /= 2
    apart = np.subtract.outer(np.asarray(places, float), nodes)
    same = np.abs(apart) < 1e-14 * (nodes[-1] - nodes[0])
    matrix = weights / np.where(same, 1.0, apart)
    matrix /= matrix.sum(axis=1, keepdims=True)
    return np.where(same.any(axis=1, keepdims=True), same, matrix)


def gauss(n, length):
    """Places and weights of Gauss and Legendre from 0 to a length."""
    x, weights = np.polynomial.legendre.leggauss(n)
    return (x + 1) * length / 2, weights * length / 2


def bell(s, centre, width):
    return np.exp(-((s - centre) ** 2) / (2 * width**2))


# ---------------------------------------------------------------- steady fields in the plane


@problem("helmholtz-room", "steady, 2D", "hard", "sound in a room at one frequency: wave number and wall admittance; two states coupled through impedance walls only; two resonances lie between guess and truth")
def helmholtz_room(rng):
    truth = dict(k=1.142, beta=0.072)  # 62.4 Hz at 343.5 m/s
    x, y = np.repeat(np.linspace(0.4, 4.8, 6), 4), np.tile(np.linspace(0.4, 3.4, 4), 6)

    def solver(n):
        (X, Dx), (Y, Dy) = chebyshev(n, 0, 5.2), chebyshev(n, 0, 3.8)
        Px, Py = barycentric(X, x), barycentric(Y, y)
        F = -6.0 * np.outer(bell(X, 0.9, 0.25), bell(Y, 0.7, 0.25))

        def inner(D, z):
            """Second derivatives at inner nodes and all values, both from inner values, with p_n = -z p at the ends."""
            ends = np.linalg.solve([[D[0, 0] - z, D[0, -1]], [D[-1, 0], D[-1, -1] + z]], -D[[0, -1], 1:-1])
            R = np.vstack([ends[:1], np.eye(n - 1), ends[1:]])
            return (D @ D @ R)[1:-1], R

        def model(p):
            z = 1j * p["k"] * p["beta"]
            (A, Rx), (C, Ry) = inner(Dx, z), inner(Dy, z)
            P = solve_sylvester(A + p["k"] ** 2 * np.eye(n - 1), C.T, F[1:-1, 1:-1].astype(complex))
            v = np.einsum("mi,ij,mj->m", Px @ Rx, P, Py @ Ry)
            return [v.real, v.imag]

        return model

    model = solver(36)
    re, im = (noisy(rng, v, 0.01) for v in model(truth))
    case = Case(truth, model, [Seen(re, 0.01), Seen(im, 0.01)], {"data.csv": table(x=x, y=y, re=re, im=im)})
    return checked(case, dict(k=1.03, beta=0.7), solver(48))


@problem("dipole", "steady, 2D", "medium", "place and strength of a current source and sink in a tank with grounded walls")
def dipole(rng):
    truth = dict(x0=0.213, y0=0.068, I=0.021)  # m, m, A/m
    a, b, conductivity, gap, w = 0.30, 0.20, 0.05, 0.04, 0.012
    x, y = np.repeat(np.arange(1, 8) * a / 8, 4), np.tile(np.arange(1, 5) * b / 5, 7)

    def solver(n):
        k = np.arange(1, n + 1)
        sines = lambda length, s: np.sin(np.pi * np.outer(k, s) / length)

        def project(length, centre):
            s, weights = gauss(4 * n, length)
            return 2 / length * (sines(length, s) @ (weights * bell(s, centre, w)))

        eigenvalues = conductivity * np.pi**2 * (k[:, None] ** 2 / a**2 + k[None, :] ** 2 / b**2)
        Sx, Sy = sines(a, x), sines(b, y)

        def model(p):
            along = project(a, p["x0"] + gap / 2) - project(a, p["x0"] - gap / 2)
            c = p["I"] / (2 * np.pi * w**2) * np.outer(along, project(b, p["y0"])) / eigenvalues
            return [1e3 * np.einsum("km,kl,lm->m", Sx, c, Sy)]  # mV

        return model

    model = solver(70)
    V = noisy(rng, model(truth)[0], 0.5)
    case = Case(truth, model, [Seen(V, 0.5)], {"data.csv": table(x=x, y=y, mV=V)})
    return checked(case, dict(x0=0.9, y0=1.25, I=0.6), solver(110))


@problem("sounding", "several experiments", "medium", "resistivity sounding over two layers with a known interface: three pairs of current electrodes; the guesses have the contrast the wrong way round")
def sounding(rng):
    truth = dict(s1=0.0155, s2=0.083)  # S/m, moist sand over clay
    L, H, h, w, J = 1.2, 0.4, 0.12, 0.04, 0.5
    pairs = dict(narrow=(0.5, 0.7), middle=(0.35, 0.85), wide=(0.15, 1.05))
    x = np.round(np.arange(0.05, 1.16, 0.1), 3)

    def solver(n):
        s, weights = gauss(4 * n, L)
        m = np.arange(n + 1)
        k = np.pi * m / L
        project = np.cos(np.pi * np.outer(m, s) / L) * weights * np.where(m > 0, 2, 1)[:, None] / L

        def model(p):
            # impedance of the surface: a layer over another on a grounded plate
            below = np.tanh(k[1:] * (H - h)) / (p["s2"] * k[1:])
            layer = np.tanh(k[1:] * h)
            Z = (below + layer / (p["s1"] * k[1:])) / (1 + p["s1"] * k[1:] * below * layer)
            Z = np.r_[(H - h) / p["s2"] + h / p["s1"], Z]
            currents = [project @ (J * (bell(s, xa, w) - bell(s, xb, w))) for xa, xb in pairs.values()]
            return [np.cos(np.pi * np.outer(x, m) / L) @ (Z * j) for j in currents]

        return model

    model = solver(80)
    V = [noisy(rng, v, 0.004) for v in model(truth)]
    case = Case(truth, model, [Seen(v, 0.004) for v in V], {"data.csv": table(x=x, **{f"V_{n}": v for n, v in zip(pairs, V)})})
    return checked(case, dict(s1=1.8, s2=0.5), solver(140))


# ---------------------------------------------------------------- traffic


@problem("traffic", "waves and transport", "hard", "viscous Lighthill-Whitham-Richards traffic: a queue that dissolves; densities and flows at four loops")
def traffic(rng):
    truth = dict(vf=104.0, rhomax=143.0, D=3.2)  # km/h, vehicles/km, km^2/h
    places = np.array([1.5, 2.5, 3.5, 4.5])
    t = np.round(np.arange(1, 25) * 12 / 3600, 6)  # every 12 s

    def solver(n, rtol):
        x = np.linspace(0, 6.0, n + 1)
        h = x[1] - x[0]
        start = 25 + 75 * bell(x, 2.5, 0.4)

        def model(p):
            flow = lambda r: p["vf"] * r * (1 - r / p["rhomax"])

            def rates(_, r):
                q = flow(r)
                face, slope = (q[1:] + q[:-1]) / 2, (r[1:] - r[:-1]) / h
                face[1:-1] = (7 * (q[1:-2] + q[2:-1]) - q[:-3] - q[3:]) / 12  # fourth order inside
                slope[1:-1] = (15 * (r[2:-1] - r[1:-2]) - (r[3:] - r[:-3])) / (12 * h)
                f = face - p["D"] * slope
                return np.concatenate([[0.0], -(f[1:] - f[:-1]) / h, [-(q[-1] - f[-1]) / (h / 2)]])  # no slope at the end

            rho = CubicSpline(x, ode(rates, start, t, rtol=rtol, atol=1e-6, lband=2, uband=2), axis=0)
            return [rho(places).ravel(), flow(rho(3.5))]

        return model

    model = solver(400, 1e-7)
    density, flow = model(truth)
    rho, q = noisy(rng, density, 2.0), noisy(rng, flow, 80.0)
    files = {"data.csv": table(x=np.repeat(places, len(t)), t=np.tile(t, len(places)), rho=rho), "flow.csv": table(t=t, q=q)}
    return checked(Case(truth, model, [Seen(rho, 2.0), Seen(q, 80.0)], files), dict(vf=0.85, rhomax=1.3, D=1.8), solver(1000, 1e-9))


# ---------------------------------------------------------------- flow


@problem("kovasznay", "flow", "hard", "steady Navier-Stokes behind a grid (Kovasznay 1948, Re = 40): viscosity from 80 velocity vectors; velocities on the boundary known, pressure zero at a point")
def kovasznay(rng):
    truth = dict(nu=1.5e-5)
    U, M, Re = 0.03, 0.02, 40.0
    lam, k = Re / 2 - np.sqrt(Re**2 / 4 + 4 * np.pi**2), 2 * np.pi
    x, y = np.round(rng.uniform(-0.009, 0.019, 80), 5), np.round(rng.uniform(-0.009, 0.009, 80), 5)

    def exact(x, y):
        """Derivatives of Kovasznay's stream function y - exp(lam x) sin(k y)/k: by x, by y, of its Laplacian by x, by y, and its bilaplacian."""
        e, s, c, L = np.exp(lam * x), np.sin(k * y), np.cos(k * y), lam**2 - k**2
        return -lam * e * s / k, 1 - e * c, -L * lam * e * s / k, -L * e * c, -(L**2) * e * s / k

    def clamped(n, s, low, high):
        """Values and four derivatives of n functions (1 - z^2)^2 T_i(z), which leave values and slopes at the ends alone."""
        z = (2 * s - low - high) / (high - low)
        bubble = series.poly2cheb([1, 0, -2, 0, 1])
        functions = [series.chebmul(bubble, np.eye(n)[i]) for i in range(n)]
        return [np.stack([series.chebval(z, series.chebder(c, o)) * (2 / (high - low)) ** o for c in functions], axis=1) for o in range(5)]

    def solver(n):
        """The stream function is Kovasznay's and clamped functions, by collocation and Newton's method."""
        z = np.cos(np.pi * (np.arange(n) + 0.5) / n)
        gx, gy = 0.25 + z * 0.75, z * 0.5
        bx, by = clamped(n, gx, -0.5, 1.0), clamped(n, gy, -0.5, 0.5)
        both = lambda i, j: np.kron(bx[i], by[j])
        Bx, By, Lx, Ly = both(1, 0), both(0, 1), both(3, 0) + both(1, 2), both(2, 1) + both(0, 3)
        Bi = both(4, 0) + 2 * both(2, 2) + both(0, 4)
        ox, oy, olx, oly, obi = exact(np.repeat(gx, n), np.tile(gy, n))
        qx, qy = clamped(n, x / M, -0.5, 1.0), clamped(n, y / M, -0.5, 0.5)
        seen = lambda i, j: np.einsum("mi,mj->mij", qx[i], qy[j]).reshape(len(x), -1)
        Sx, Sy = seen(1, 0), seen(0, 1)
        seen_x, seen_y, *_ = exact(x / M, y / M)

        def model(p):
            viscosity, a = p["nu"] / (U * M), np.zeros(n * n)
            for _ in range(30):
                sx, sy, lx, ly = ox + Bx @ a, oy + By @ a, olx + Lx @ a, oly + Ly @ a
                r = sy * lx - sx * ly - viscosity * (obi + Bi @ a)
                step = np.linalg.solve(sy[:, None] * Lx + lx[:, None] * By - sx[:, None] * Ly - ly[:, None] * Bx - viscosity * Bi, -r)
                a += step
                if np.max(np.abs(Sy @ step)) < 1e-11:
                    return [U * (seen_y + Sy @ a), -U * (seen_x + Sx @ a)]
            raise RuntimeError("Newton's method does not converge")

        return model

    model = solver(20)
    u, v = (noisy(rng, s, 4e-4) for s in model(truth))
    case = Case(truth, model, [Seen(u, 4e-4), Seen(v, 4e-4)], {"data.csv": table(x=x, y=y, u=u, v=v)})
    e = np.exp(lam * x / M)
    closed = [U * (1 - e * np.cos(k * y / M)), U * lam / k * e * np.sin(k * y / M)]
    return checked(case, dict(nu=1.6), lambda p: closed)


@problem("channel-slip", "flow", "medium", "pressure-driven Stokes flow in two dimensions, u, v and p, over a superhydrophobic wall: slip length and viscosity; errors of unknown size")
def channel_slip(rng):
    truth = dict(mu=1.76e-3, b=6.2e-6)  # Pa s (glycerol 20 %), m
    L, H, dp = 4e-4, 1e-4, 30.0
    x, y = np.repeat([1e-4, 2e-4, 3e-4], 15), np.tile(np.arange(1, 16) * H / 16, 3)

    def model(p):
        A = H**2 / (H + p["b"])
        return [dp / L / (2 * p["mu"]) * (-(y**2) + A * y + p["b"] * A)]

    u = noisy(rng, model(truth)[0], 8e-4)
    return checked(Case(truth, model, [Seen(u)], {"data.csv": table(x=x, y=y, u=u)}), dict(mu=2.0, b=0.4))


# ---------------------------------------------------------------- heat and tracers


@problem("thermo-elastic", "coupled fields, 1D", "medium", "an aluminium bar against a spring: heat and displacement with thermoelastic coupling; values of 1e-4 m beside 60 K, 7e10 Pa in the equations")
def thermo_elastic(rng):
    truth = dict(a=9.7e-5, alpha=2.31e-5)  # m^2/s, 1/K
    L, E, K, c, Tabs, hot, tau = 0.1, 7e10, 2e11, 2.43e6, 293.0, 60.0, 8.0
    t = np.arange(1, 41) * 3.0
    places = np.array([0.02, 0.05, 0.09])

    def solver(n):
        X, D = chebyshev(n, 0, L)
        seen = barycentric(X, places)
        s, weights = gauss(n + 2, L)
        integral = weights @ barycentric(X, s)
        R = np.vstack([np.eye(n), -D[-1, :-1] / D[-1, -1]])  # all values from all but the last, whose slope is zero

        def model(p):
            coupling = E * p["alpha"] * Tabs / c
            beta = p["alpha"] / (1 + K * L / E)  # u(L) = beta*integral of the warming; u_x = alpha*warming - K/E*u(L)
            mass = np.eye(n + 1) * (1 + coupling * p["alpha"]) - coupling * K / E * beta * np.outer(np.ones(n + 1), integral)
            left, right = (mass @ R)[1:-1], (p["a"] * D @ D @ R)[1:-1]
            # The first value is hot*(1 - exp(-t/tau)): inner values follow by eigenvectors, for a constant and for exp(-t/tau)
            w, vectors = np.linalg.eig(np.linalg.solve(left[:, 1:], right[:, 1:]))
            from_value, from_rate = np.linalg.solve(left[:, 1:], np.stack([right[:, 0], left[:, 0]], axis=1)).T
            modes = lambda v: np.linalg.solve(vectors, v.astype(complex))[:, None]
            grown, w = np.exp(np.outer(w, t)), w[:, None]
            z = (grown - 1) / w * modes(from_value * hot)
            z = z + (np.exp(-t / tau) - grown) / (-1 / tau - w) * modes(-from_value * hot - from_rate * hot / tau)
            warming = R @ np.vstack([hot * (1 - np.exp(-t / tau)), (vectors @ z).real])
            return [(20 + seen @ warming).ravel(), 1e6 * beta * (integral @ warming)]

        return model

    model = solver(24)
    temperature, gauge = model(truth)
    T, u = noisy(rng, temperature, 0.3), noisy(rng, gauge, 0.5)
    files = {"data.csv": table(x=np.repeat(places, len(t)), t=np.tile(t, len(places)), T=T), "gauge.csv": table(t=t, um=u)}
    return checked(Case(truth, model, [Seen(T, 0.3), Seen(u, 0.5)], files), dict(a=0.5, alpha=1.7), solver(40))


@problem("cube-3d", "steady, three dimensions", "medium", "a battery block: ratio of conductivities and convection on top, from 60 thermocouples")
def cube_3d(rng):
    truth = dict(r=0.041, h=38.0)
    k, a, b, c, q0, cold = 24.0, 0.12, 0.08, 0.03, 6e4, 25.0
    x, y, z = np.round(rng.uniform(0, a, 60), 4), np.round(rng.uniform(0, b, 60), 4), np.round(rng.uniform(0.002, c, 60), 4)

    def across(q, m2, kz, h):
        """kz f'' - m2 f = -q with f(0) = 0 and -kz f'(c) = h f(c)."""
        if m2 == 0:
            return -q * z**2 / (2 * kz) + (q * c + h * q * c**2 / (2 * kz)) / (kz + h * c) * z
        s = np.sqrt(m2 / kz)
        top = kz * q / m2 * s * np.sinh(s * c) - h * q / m2 * (1 - np.cosh(s * c))
        return q / m2 * (1 - np.cosh(s * z)) + top / (kz * s * np.cosh(s * c) + h * np.sinh(s * c)) * np.sinh(s * z)

    def model(p):
        T = np.full(len(x), cold)
        for i, j, part in ((0, 0, 1.0), (0, 1, 0.5), (1, 0, 0.8), (1, 1, 0.4)):
            m2 = k * ((i * np.pi / a) ** 2 + (j * np.pi / b) ** 2)
            T += across(q0 * part, m2, p["r"] * k, p["h"]) * np.cos(i * np.pi * x / a) * np.cos(j * np.pi * y / b)
        return [T]

    T = noisy(rng, model(truth)[0], 0.2)
    return checked(Case(truth, model, [Seen(T, 0.2)], {"data.csv": table(x=x, y=y, z=z, T=T)}), dict(r=2.0, h=0.5))


@problem("tracer-counts", "counts, images, outliers", "hard", "a pulse of radiotracer through a sand column: Poisson counts of three detectors on a background, and test strips that turn or do not")
def tracer_counts(rng):
    truth = dict(v=4.7e-4, D=2.3e-6, k=5.5e-4)  # m/s, m^2/s, 1/s
    L, detectors, strips = 0.5, np.array([0.1, 0.25, 0.45]), np.array([0.15, 0.35])
    t, t_strips = np.arange(1, 51) * 40.0, np.arange(100, 1901, 75.0)

    def solver(count, span):
        """By waves in time: the inlet's times a transfer function."""
        s, omega = np.arange(count) * span / count, 2 * np.pi * np.arange(count // 2 + 1) / span
        inlet = np.fft.rfft(bell(s, 200, 40))

        def model(p):
            root = np.sqrt(p["v"] ** 2 + 4 * p["D"] * (p["k"] + 1j * omega))
            r1, r2 = (p["v"] - root) / (2 * p["D"]), (p["v"] + root) / (2 * p["D"])
            # A (exp(r1 x) + g exp(r2 (x - L))) is 1 at the inlet and has no slope at the outlet
            g = -r1 / r2 * np.exp(r1 * L)
            A = 1 / (1 + g * np.exp(-r2 * L))
            c = lambda x: CubicSpline(s, np.fft.irfft(inlet * A * (np.exp(r1 * x) + g * np.exp(r2 * (x - L))), count))
            counts = np.concatenate([3 + 150 * c(x)(t) for x in detectors])
            turned = np.concatenate([1 - np.exp(-np.maximum(c(x)(t_strips), 0) / 0.05) for x in strips])
            return [counts, turned]

        return model

    model = solver(8192, 16384.0)
    counts, chance = model(truth)
    n = rng.poisson(counts).astype(float)
    turned = (rng.uniform(size=len(chance)) < chance).astype(float)
    files = {
        "data.csv": table(x=np.repeat(detectors, len(t)), t=np.tile(t, len(detectors)), counts=n),
        "strips.csv": table(x=np.repeat(strips, len(t_strips)), t=np.tile(t_strips, len(strips)), turned=turned),
    }
    case = Case(truth, model, [Expected(n, kind="poisson"), Expected(turned, kind="bernoulli")], files)
    return checked(case, dict(v=0.9, D=2.0, k=0.6), solver(16384, 32768.0))
