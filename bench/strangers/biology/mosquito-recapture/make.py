import os, sys
here = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, os.path.dirname(here))
from common import *
from scipy.optimize import minimize
names = ["D", "vx", "vy", "mort", "area"]; truth = np.array([5200.0, 34.0, -13.0, 0.21, 240.0])
N0, w, x0, y0, L = 9000.0, 60.0, -80.0, 50.0, 1000.0
def line(x, t, c, D, v):
    """u_t = D u_xx - v u_x on [-L, L], zero at both ends, u(0) = exp(-(x - c)^2/(2 w^2)): images, after u = exp(v x/2D) q."""
    m = c - v*w*w/(2*D); amp = np.exp(-v*c/(2*D) + (v*w/(2*D))**2/2)
    s2 = w*w + 2*D*t
    q = 0.0
    for k in range(-2, 3):
        q = q + np.exp(-(x - m - 4*k*L)**2/(2*s2)) - np.exp(-(x - (2*L - m) - 4*k*L)**2/(2*s2))
    return amp*np.exp(v*x/(2*D) - v*v/(4*D)*t)*w/np.sqrt(s2)*q
def model(th, X, Y, T, n=32):
    D, vx, vy, mort, area = th
    g, gw = np.polynomial.legendre.leggauss(n)
    tt = T[:, None] - .5 + g/2
    return area*((line(X[:, None], tt, x0, D, vx)*line(Y[:, None], tt, y0, D, vy)*np.exp(-mort*tt)) @ (gw/2))*N0/(2*np.pi*w*w)
rng = np.random.default_rng(707)
rad = 60 + 640*np.sqrt(rng.uniform(0, 1, 34)); ang = rng.uniform(0, 2*np.pi, 34)
px, py = np.round(x0 + rad*np.cos(ang), -1), np.round(y0 + rad*np.sin(ang), -1)
T, X, Y = [a.ravel() for a in np.meshgrid(np.arange(1., 9), np.zeros(34), np.zeros(34), indexing="ij")][0][:0], None, None
T = np.repeat(np.arange(1., 9), 34); X, Y = np.tile(px, 8), np.tile(py, 8)
y = rng.poisson(model(truth, X, Y, T))
with open(os.path.join(here, "traps.csv"), "w") as f:
    f.write("east_m,north_m,day,males\n"); f.writelines("%g,%g,%g,%d\n" % r for r in zip(X, Y, T, y))
print("counts", y.sum(), "zeros", np.mean(y == 0), "max", y.max(), "traps beyond", np.abs(px).max(), np.abs(py).max())
# finite differences of one line against the images (the same equation, checked)
from scipy.integrate import solve_ivp
def fd(M):
    h = 2*L/M; x = -L + h*np.arange(1, M)
    f = lambda t, u: truth[0]*(np.r_[u[1:], 0] - 2*u + np.r_[0, u[:-1]])/h**2 - truth[1]*(np.r_[u[1:], 0] - np.r_[0, u[:-1]])/(2*h)
    s = solve_ivp(f, (0, 8), np.exp(-(x - x0)**2/(2*w*w)), method="LSODA", lband=1, uband=1, rtol=1e-9, atol=1e-12)
    return x, s.y[:, -1]
for M in (400, 800):
    x, u = fd(M); print("images against differences", M, np.max(np.abs(u - line(x, 8.0, x0, truth[0], truth[1]))), "of", u.max(), "at the edge", u[-3:])
def fit5(start):
    th = np.array(start, float)
    for k in range(60):
        m = model(th, X, Y, T); h = np.array([1., .01, .01, 1e-5, .01])
        J = np.array([(model(th + e, X, Y, T) - model(th - e, X, Y, T))/(2*e.sum()) for e in np.diag(h)]).T
        F = J.T @ (J/m[:, None]); step = np.linalg.solve(F, J.T @ ((y - m)/m)); t = 1.0
        ll = lambda q: np.sum(y*np.log(q) - q)
        while t > 1e-4:
            new = th + t*step
            if new[0] > 0 and new[4] > 0:
                q = model(new, X, Y, T)
                if np.all(q > 0) and ll(q) >= ll(m) - 1e-9: break
            t /= 2
        th = new
        if np.max(np.abs(step)/np.sqrt(np.diag(np.linalg.inv(F)))) < 1e-7: break
    print("  ", th, "loglik", ll(m), "rounds", k, flush=True)
    return th, np.sqrt(np.diag(np.linalg.inv(F)))
th, sd = fit5(truth); fit5([3000, 5, 5, .1, 120]); print("sd", sd, "quadrature", np.max(np.abs(model(th, X, Y, T) - model(th, X, Y, T, 64))))
write(here, "mosquito", names, truth, th, sd, cls="two-dimensional, in time", difficulty="easy", note="Poisson counts, most of them small or zero, as integrals over a day; drifts guessed as zero")
