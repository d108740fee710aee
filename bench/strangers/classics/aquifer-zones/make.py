import sys, time
sys.path.insert(0, "..")
import numpy as np
from scipy.sparse import csc_matrix, coo_matrix
from scipy.sparse.linalg import splu
from common import fit, reference, grid_error, read

X, Y, b1, b2, R, Q, xw, yw, s, Hr = 2400.0, 1500.0, 780.0, 1620.0, 8e-4, 1400.0, 1290.0, 570.0, 60.0, 52.0
names = ["T_1", "T_2", "T_3", "C"]
truth = np.array([340.0, 105.0, 620.0, 0.62])


def model(th, at, d=10.0):
    """Cell-centred finite volumes; borders of zones are faces; wells are centres of cells for d = 30, 10."""
    T1, T2, T3, C = th
    nx, ny = int(round(X / d)), int(round(Y / d))
    x, y = (np.arange(nx) + 0.5) * d, (np.arange(ny) + 0.5) * d
    T = np.where(x < b1, T1, np.where(x < b2, T2, T3))
    I = np.arange(nx * ny).reshape(nx, ny)
    gx = 2 * T[1:] * T[:-1] / (T[1:] + T[:-1])
    rows, cols, vals = [], [], []

    def link(a, b, g):
        for p, q, v in ((a, a, g), (b, b, g), (a, b, -g), (b, a, -g)):
            rows.append(p.ravel()), cols.append(q.ravel()), vals.append(v.ravel())
    link(I[:-1], I[1:], np.repeat(gx[:, None], ny, 1))
    link(I[:, :-1], I[:, 1:], np.repeat(T[:, None], ny - 1, 1))
    g = 1 / (1 / (C * d) + 0.5 / T1)                           # river: C (h - Hr) through half a cell
    rows.append(I[0]), cols.append(I[0]), vals.append(np.full(ny, g))
    A = csc_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))))
    f = d * d * (R - Q / (2 * np.pi * s * s) * np.exp(-((x[:, None] - xw) ** 2 + (y - yw) ** 2) / (2 * s * s)))
    f[0] += g * Hr
    h = splu(A).solve(f.ravel()).reshape(nx, ny)
    i, j = np.round(at[:, 0] / d - 0.5).astype(int), np.round(at[:, 1] / d - 0.5).astype(int)
    return [h[i, j]]


rich = lambda th, at: [(9 * model(th, at, 10.0)[0] - model(th, at, 30.0)[0]) / 8]
rng = np.random.default_rng(808)
at = np.array([[15 + 30 * rng.integers(0, 80), 15 + 30 * rng.integers(0, 50)] for _ in range(26)] + [[1335, 615], [1215, 465], [15, 345], [15, 1065]], float)
t0 = time.time()
h0 = rich(truth, at)[0]
print("h", h0.min(), h0.max(), "error of 30 m", np.abs(h0 - model(truth, at, 30.0)[0]).max(), "10 m", np.abs(h0 - model(truth, at, 10.0)[0]).max(), time.time() - t0)
h = h0 + 0.08 * rng.standard_normal(len(at))
with open("wells.csv", "w") as f:
    f.write("well,x,y,head_m\n" + "".join("W%02d,%g,%g,%.2f\n" % (n + 1, a[0], a[1], v) for n, (a, v) in enumerate(zip(at, h))))
raw = np.array([[float(c) for c in l.split(",")[1:]] for l in open("wells.csv").readlines()[1:]])
at, h = raw[:, :2], raw[:, 2]
opt, sd, chi2, noise = fit(lambda th: rich(th, at), [h], truth, [0.08], names)
grid_error(rich(opt, at), model(opt, at, 10.0 / 3), sd, truth, names)
reference(names, truth, opt, sd, **{"class": "hydrogeology: steady heads in the plane, transmissivity by zones, leaky river, pumped well", "difficulty": "medium",
          "noise": "Gaussian, 0.08 m, stated", "chi2": chi2, "note": "coefficient jumps by factors 3 and 6 at two lines; the well is a Gaussian patch of 60 m; heads fixed by a Robin condition on one side only"})
