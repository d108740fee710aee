import sys
sys.path.insert(0, "..")
import numpy as np
from common import fit, reference, grid_error, read

m1, m2 = 2.0, 1.2
names = ["k1", "k3", "c1", "k2", "c2"]
truth = np.array([4150.0, 5.2e6, 3.4, 2480.0, 1.3])
tf = np.arange(0, 4.0001, 0.005)


def model(th, F, td, sub=5):
    """RK4 with `sub` steps in each interval of the force's table, straight from row to row; smooth within each."""
    k1, k3, c1, k2, c2 = th
    h = 0.005 / sub

    def rhs(y, f):
        a, b, va, vb = y
        p = c2 * (va - vb) + k2 * (a - b)
        return np.array([va, vb, (f - c1 * va - k1 * a - k3 * a ** 3 - p) / m1, p / m2])
    y = np.zeros(4)
    acc = [rhs(y, F[0])[2:]]
    for i in range(tf.size - 1):
        for j in range(sub):
            f0 = F[i] + (F[i + 1] - F[i]) * j / sub
            f2 = F[i] + (F[i + 1] - F[i]) * (j + 1) / sub
            f1 = (f0 + f2) / 2
            p = rhs(y, f0)
            q = rhs(y + h / 2 * p, f1)
            r = rhs(y + h / 2 * q, f1)
            s = rhs(y + h * r, f2)
            y = y + h / 6 * (p + 2 * q + 2 * r + s)
        acc.append(rhs(y, F[i + 1])[2:])
    acc = np.array(acc)[np.round(td / 0.005).astype(int)]
    return [acc[:, 0], acc[:, 1]]


rng = np.random.default_rng(505)
T, f0, f1 = 3.0, 2.0, 14.0
win = np.where(tf < T, np.minimum(1, np.minimum(tf / 0.15, (T - tf) / 0.15)), 0)
F = 9.0 * win * np.sin(2 * np.pi * (f0 * tf + (f1 - f0) * tf ** 2 / (2 * T)))
with open("force.csv", "w") as f:
    f.write("time_s,F_N\n" + "".join("%.3f,%.3f\n" % a for a in zip(tf, F)))
F = read("force.csv")[1][:, 1]
td = np.arange(0.01, 3.991, 0.01)
a = model(truth, F, td, 10)
print("acc", np.abs(a[0]).max(), np.abs(a[1]).max(), [np.abs(p - q).max() for p, q in zip(a, model(truth, F, td, 2))])
d = [x + s * rng.standard_normal(td.size) for x, s in zip(a, (0.4, 0.4))]
with open("accel.csv", "w") as f:
    f.write("time_s,a1_m_s2,a2_m_s2\n" + "".join("%.3f,%.3f,%.3f\n" % r for r in zip(td, *d)))
raw = read("accel.csv")[1]
d = [raw[:, 1], raw[:, 2]]
opt, sd, chi2, noise = fit(lambda th: model(th, F, td, 4), d, truth, [None, None], names)
grid_error(model(opt, F, td, 4), model(opt, F, td, 12), sd, truth, names)
reference(names, truth, opt, sd, **{"class": "structural dynamics: two masses, cubic stiffness, swept force given as a table, accelerometers", "difficulty": "medium",
          "noise": "Gaussian, 0.4 m/s^2 each; sigma not stated", "chi2": chi2, "estimated_noise": list(map(float, noise)),
          "note": "thirty periods; force straight between rows of 5 ms; the data are second derivatives of the states"})
