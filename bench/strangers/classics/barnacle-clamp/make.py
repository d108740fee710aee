import sys
sys.path.insert(0, "..")
import numpy as np
from scipy.integrate import solve_ivp
from common import fit, reference, grid_error, read

C, VL, VCa, VK, V1, V2, V3, V4 = 20.0, -60.0, 120.0, -84.0, -1.2, 18.0, 2.0, 30.0
V0, w0 = -60.9, 0.0149
names = ["gL", "gCa", "gK", "phi"]
truth = np.array([2.1, 4.3, 7.7, 0.043])
ts, Is = [0.0, 40.0, 200.0, 240.0, 520.0], [0.0, 55.0, 0.0, 115.0, 0.0]
end = 600.0


def model(th, td, rtol=1e-8, method="LSODA"):
    gL, gCa, gK, phi = th

    def rhs(I):
        def f(t, y):
            V, w = y
            return [(I - gL * (V - VL) - gCa * 0.5 * (1 + np.tanh((V - V1) / V2)) * (V - VCa) - gK * w * (V - VK)) / C,
                    phi * np.cosh((V - V3) / (2 * V4)) * (0.5 * (1 + np.tanh((V - V3) / V4)) - w)]
        return f
    y0, out = [V0, w0], []
    for i, I in enumerate(Is):
        a, b = ts[i], (ts + [end])[i + 1]
        m = (td > a) & (td <= b)
        y = solve_ivp(rhs(I), (a, b), y0, method=method, rtol=rtol, atol=1e-8, t_eval=np.unique(np.append(td[m], b)))
        out.append(y.y[0, :m.sum()])
        y0 = y.y[:, -1]
    return [np.concatenate(out)]


rng = np.random.default_rng(909)
td = np.arange(1.0, 601.0)
f = model(truth, td, 1e-10, "DOP853")[0]
print("V", f[::10].round(0), np.abs(f - model(truth, td)[0]).max())
V = f + 0.8 * rng.standard_normal(td.size)
with open("stimulus.csv", "w") as h:
    h.write("t_ms,I_uA_cm2\n" + "".join("%g,%g\n" % a for a in zip(ts, Is)))
with open("trace.csv", "w") as h:
    h.write("t_ms,V_mV\n" + "".join("%g,%.2f\n" % a for a in zip(td, V)))
V = read("trace.csv")[1][:, 1]
opt, sd, chi2, noise = fit(lambda th: model(th, td), [V], truth, [None], names)
grid_error(model(opt, td), model(opt, td, 1e-11, "DOP853"), sd, truth, names)
reference(names, truth, opt, sd, **{"class": "neuroscience: Morris-Lecar fibre in current clamp, steps of current, conductances from the voltage", "difficulty": "hard",
          "noise": "Gaussian, 0.8 mV; sigma not stated", "chi2": chi2, "estimated_noise": list(map(float, noise)),
          "note": "fires repetitively during the second step: the times of spikes make the misfit rugged; current given as a table of steps"})
