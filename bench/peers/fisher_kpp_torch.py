"""The BiLO step of Fisher-KPP at the paper's size in PyTorch, eager, as such code is usually written.

A worker: it says that it is ready, then reads a number of steps from each line and answers with one
line of JSON. So it can be timed in turns with others, without starting over.
"""

import json
import resource
import sys
import time

import torch
from torch.autograd import grad

THREADS, POINTS, WIDTH, SQUARE_LAYERS = int(sys.argv[1]), 51, 128, 2

torch.set_num_threads(THREADS)
torch.manual_seed(0)


def network():
    layers = [torch.nn.Linear(4, WIDTH)]
    for _ in range(SQUARE_LAYERS):
        layers += [torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH)]
    return torch.nn.Sequential(*layers, torch.nn.Tanh(), torch.nn.Linear(WIDTH, 1))


net = network()
weights = list(net.parameters())
unknowns = [torch.nn.Parameter(torch.tensor(1.0)) for _ in range(2)]
axis = torch.linspace(0, 1, POINTS)
x, t = (column.reshape(-1, 1).requires_grad_() for column in torch.meshgrid(axis, axis, indexing="xy"))
observed = (0.5 * torch.sin(torch.pi * x) ** 2 * torch.exp(t)).detach()
lower = torch.optim.Adam(weights, 1e-3, amsgrad=True)
upper = torch.optim.Adam(unknowns, 1e-3, amsgrad=True)


def slope(y, by):
    return grad(y, by, torch.ones_like(y), create_graph=True)


def step():
    # One copy of the unknowns per point, so that one sweep back gives dr/dD and dr/drho everywhere.
    diffusion, growth = (unknown.expand_as(x) for unknown in unknowns)
    net_value = net(torch.cat([x, t, diffusion, growth], 1))
    u = 0.5 * torch.sin(torch.pi * x) ** 2 + net_value * x * (1 - x) * t
    u_x, u_t = slope(u, [x, t])
    (u_xx,) = slope(u_x, [x])
    r = u_t - 0.01 * diffusion * u_xx - growth * u * (1 - u)
    r_diffusion, r_growth = slope(r, [diffusion, growth])
    equation = (r**2).mean() + 0.1 * (r_diffusion**2 + r_growth**2).mean()
    data = ((u - observed) ** 2).mean()
    # Each level moves its own variables only.
    by_unknowns = grad(data, unknowns, retain_graph=True)
    by_weights = grad(equation, weights)
    for variable, gradient in zip(unknowns + weights, by_unknowns + by_weights):
        variable.grad = gradient
    lower.step()
    upper.step()
    return equation


for _ in range(5):
    step()
print(json.dumps({"ready": f"PyTorch {torch.__version__} eager", "weights": sum(w.numel() for w in weights)}), flush=True)
for line in sys.stdin:
    steps = int(line)
    start = time.perf_counter()
    for _ in range(steps):
        loss = step()
    seconds = (time.perf_counter() - start) / steps
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"sec_per_step": seconds, "peak_bytes": peak, "loss": loss.item()}), flush=True)
