"""The BiLO step of Fisher-KPP at the paper's size in JAX: forward over forward for derivatives in x and t,
both levels compiled into one function, many steps in one compiled loop.

A worker like its neighbour: it says that it is ready, then reads a number of steps from each line and
answers with one line of JSON. JAX takes all cores that it may run on.

dr/dD and dr/drho come either way: by one sweep back for both, which is the faster by far, or with
`jacfwd`, by one sweep forward for each, which is what one would write first.
"""

import json
import resource
import sys
import time
from functools import partial

import jax
import jax.numpy as jnp

POINTS, WIDTH, SQUARE_LAYERS = 51, 128, 2
FORWARD = "jacfwd" in sys.argv


def network(key):
    sizes = [4] + [WIDTH] * (SQUARE_LAYERS + 1) + [1]
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        key, own = jax.random.split(key)
        limit = (6 / (inputs + outputs)) ** 0.5
        layers.append((jax.random.uniform(own, (inputs, outputs), minval=-limit, maxval=limit), jnp.zeros(outputs)))
    return layers


axis = jnp.linspace(0, 1, POINTS)
x, t = (column.reshape(-1) for column in jnp.meshgrid(axis, axis))
observed = 0.5 * jnp.sin(jnp.pi * x) ** 2 * jnp.exp(t)
one = jnp.ones_like(x)


def state(weights, x, t, diffusion, growth):
    h = jnp.stack([x, t, diffusion, growth], 1)
    for matrix, bias in weights[:-1]:
        h = jnp.tanh(h @ matrix + bias)
    matrix, bias = weights[-1]
    return 0.5 * jnp.sin(jnp.pi * x) ** 2 + (h @ matrix + bias)[:, 0] * x * (1 - x) * t


def residual(weights, diffusion, growth):
    u, u_t = jax.jvp(lambda t: state(weights, x, t, diffusion, growth), (t,), (one,))
    slope = lambda x: jax.jvp(lambda x: state(weights, x, t, diffusion, growth), (x,), (one,))[1]
    _, u_xx = jax.jvp(slope, (x,), (one,))
    return u_t - 0.01 * diffusion * u_xx - growth * u * (1 - u)


def equation(weights, unknowns):
    diffusion, growth = unknowns[0] * one, unknowns[1] * one
    if FORWARD:
        r = residual(weights, diffusion, growth)
        slopes = jax.jacfwd(lambda q: residual(weights, q[0] * one, q[1] * one))(unknowns).T
    else:
        r, back = jax.vjp(partial(residual, weights), diffusion, growth)
        slopes = back(one)
    return jnp.mean(r**2) + 0.1 * sum(jnp.mean(slope**2) for slope in slopes)


def data(weights, unknowns):
    return jnp.mean((state(weights, x, t, unknowns[0] * one, unknowns[1] * one) - observed) ** 2)


def adam(values, gradient, moments, count):
    mean, square, largest = moments
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)
    largest = jax.tree.map(jnp.maximum, largest, square)
    rate, correction = 1e-3 / (1 - 0.9**count), jnp.sqrt(1 - 0.999**count)
    move = lambda v, m, s: v - rate * m / (jnp.sqrt(s) / correction + 1e-8)
    return jax.tree.map(move, values, mean, largest), (mean, square, largest)


def step(carry, _):
    weights, unknowns, lower, upper, count = carry
    count = count + 1
    loss, by_weights = jax.value_and_grad(equation)(weights, unknowns)
    by_unknowns = jax.grad(data, 1)(weights, unknowns)
    weights, lower = adam(weights, by_weights, lower, count)
    unknowns, upper = adam(unknowns, by_unknowns, upper, count)
    return (weights, unknowns, lower, upper, count), loss


@partial(jax.jit, static_argnums=1)
def run(carry, steps):
    return jax.lax.scan(step, carry, None, length=steps)


def zeros(tree):
    return (jax.tree.map(jnp.zeros_like, tree),) * 3


weights, unknowns = network(jax.random.key(0)), jnp.ones(2)
carry = (weights, unknowns, zeros(weights), zeros(unknowns), jnp.zeros(()))
count = sum(leaf.size for leaf in jax.tree.leaves(weights))
print(json.dumps({"ready": f"JAX {jax.__version__} jit" + ", jacfwd" * FORWARD, "weights": count}), flush=True)
compiled = set()
for line in sys.stdin:
    steps = int(line)
    if steps not in compiled:
        jax.block_until_ready(run(carry, steps))
        compiled.add(steps)
    start = time.perf_counter()
    carry, losses = jax.block_until_ready(run(carry, steps))
    seconds = (time.perf_counter() - start) / steps
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"sec_per_step": seconds, "peak_bytes": peak, "loss": float(losses[-1])}), flush=True)
