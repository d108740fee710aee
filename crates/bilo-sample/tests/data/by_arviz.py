"""Chains and what ArviZ makes of them, for tests/arviz.rs: python by_arviz.py > arviz.json (made with ArviZ 0.23.4)."""

import json

import arviz
import numpy as np
from arviz.stats.diagnostics import _mcse_sd

random = np.random.default_rng(20260131)


def autoregressive(memory, scale=1.0):
    chains = []
    for _ in range(4):
        x, chain = random.standard_normal(), []
        for _ in range(200):
            x = memory * x + np.sqrt(1 - memory**2) * random.standard_normal()
            chain.append(round(scale * x, 5))
        chains.append(chain)
    return np.array(chains)


quantities = {
    "independent": autoregressive(0.0),
    "slow": autoregressive(0.9),
    "antithetic": autoregressive(-0.6, 1e3),
    "heavy": np.round(np.tan(autoregressive(0.3) / 2), 5),
    "counts": np.floor(3 * autoregressive(0.5)),
    "apart": np.round(autoregressive(0.4) + np.array([[0.0], [0.3], [0.0], [0.9]]), 5),
    "odd": autoregressive(0.5)[:, :151],
}
weights = {
    "mild": np.round(0.5 * random.standard_normal(1000), 6),
    "wild": np.round(3.0 * random.standard_normal(1000), 6),
    "few": np.round(random.standard_normal(30), 6),
    "alike": np.round(1e-3 * random.standard_normal(200) ** 2, 9),
}
told = {"chains": {}, "weights": {}}
for name, chains in quantities.items():
    told["chains"][name] = {
        "draws": chains.tolist(),
        "rhat": float(arviz.rhat(chains)),
        "ess_bulk": float(arviz.ess(chains)),
        "ess_tail": float(arviz.ess(chains, method="tail")),
        "ess_mean": float(arviz.ess(chains, method="mean")),
        "mcse_mean": float(arviz.mcse(chains)),
        "mcse_sd": float(_mcse_sd(chains)),
        "bfmi": arviz.bfmi(chains).tolist(),
    }
for name, raw in weights.items():
    for efficiency in [1.0, 0.4]:
        smoothed, shape = arviz.psislw(raw.copy(), efficiency)
        told["weights"][f"{name} {efficiency}"] = {
            "raw": raw.tolist(),
            "efficiency": efficiency,
            "shape": float(shape),
            "smoothed": np.asarray(smoothed).tolist(),
        }
print(json.dumps(told))
