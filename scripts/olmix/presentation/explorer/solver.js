// The mixture optimisation in the page: min f̂(p) + λ·KL(p‖p₀) over mixes that meet the caps, with
// some weights held fixed. A primal-dual interior-point method; a solve takes milliseconds.
"use strict";

const TOLERANCE = 1e-10; // of the objective, in BPB, unless a request says otherwise
const NEAR_BOUND = 0.995; // share of the way to a bound that one step may go
const MOST_STEPS = 100;
const ACTIVE = 1e-6; // a cap counts as active within this share of it, as in mix.json

/** Solve the symmetric positive definite system of an upper triangle, for several right sides. */
function solveDefinite(matrix, n, ...sides) {
  const factor = Float64Array.from(matrix); // Rᵀ·R
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) {
      const scale = factor[k * n + i];
      if (scale === 0) continue;
      for (let j = i; j < n; j++) factor[i * n + j] -= scale * factor[k * n + j];
    }
    const root = Math.sqrt(Math.max(factor[i * n + i], 1e-300));
    for (let j = i; j < n; j++) factor[i * n + j] /= root;
  }
  return sides.map((side) => {
    const x = Float64Array.from(side);
    for (let i = 0; i < n; i++) {
      x[i] /= factor[i * n + i];
      for (let j = i + 1; j < n; j++) x[j] -= factor[i * n + j] * x[i];
    }
    for (let i = n - 1; i >= 0; i--) {
      for (let j = i + 1; j < n; j++) x[i] -= factor[i * n + j] * x[j];
      x[i] /= factor[i * n + i];
    }
    return x;
  });
}

/** Add the KL term to a gradient and a Hessian. */
function addDivergence({ kl, prior }, p, { gradient, hessian }) {
  for (let j = 0; kl > 0 && j < p.length; j++) {
    gradient[j] += kl * (Math.log(p[j] / prior[j]) + 1);
    hessian[j * p.length + j] += kl / p[j];
  }
}

/** Σ weight·multiplier over both bounds: zero at the optimum, and what the barriers follow. */
function complementarity({ upper }, { p, low, high }) {
  return p.reduce((sum, weight, j) => sum + weight * low[j] + (upper[j] - weight) * high[j], 0);
}

/** The objective with logarithmic barriers of weight μ before both bounds of every weight. */
function withBarriers({ law, shares, kl, prior, upper }, p, mu) {
  let value = average(shares, predict(law, p)) + (kl > 0 ? kl * divergence(p, prior) : 0);
  for (let j = 0; j < p.length; j++) value -= mu * (Math.log(p[j]) + Math.log(upper[j] - p[j]));
  return value;
}

/**
 * Newton's direction for the optimality conditions perturbed by μ: stationarity, and weight (or
 * room below the cap) times multiplier equal to μ. The weights' sum does not change along it.
 */
function direction({ upper }, { p, low, high, y }, { gradient, hessian }, mu) {
  const n = p.length;
  const system = Float64Array.from(hessian);
  const slope = new Float64Array(n); // of the objective with its barriers
  for (let j = 0; j < n; j++) {
    const room = upper[j] - p[j];
    system[j * n + j] += low[j] / p[j] + high[j] / room;
    slope[j] = gradient[j] - mu / p[j] + mu / room;
  }
  const sides = [slope.map((value) => -value - y), new Float64Array(n).fill(1)];
  const [step, ones] = solveDefinite(system, n, ...sides);
  const dy = sumOf(step) / sumOf(ones);
  const dp = step.map((value, j) => value - dy * ones[j]);
  return {
    p: dp,
    y: dy,
    low: dp.map((d, j) => (mu - low[j] * d) / p[j] - low[j]),
    high: dp.map((d, j) => (mu + high[j] * d) / (upper[j] - p[j]) - high[j]),
    descent: dp.reduce((sum, d, j) => sum + d * slope[j], 0),
  };
}

/** The longest step, at most 1, that keeps all these numbers positive. */
function longestStep(...changing) {
  let step = 1 / NEAR_BOUND;
  for (const [values, changes] of changing) {
    for (let j = 0; j < values.length; j++) {
      if (changes[j] < 0) step = Math.min(step, -values[j] / changes[j]);
    }
  }
  return NEAR_BOUND * step;
}

/** Weights and multipliers after a move: the weights go as far as the barriers let them improve. */
function advance(problem, point, move, mu) {
  const rooms = point.p.map((weight, j) => problem.upper[j] - weight);
  let step = longestStep([point.p, move.p], [rooms, move.p.map((d) => -d)]);
  const before = withBarriers(problem, point.p, mu);
  const along = (values, changes, by) => values.map((value, j) => value + by * changes[j]);
  let p = along(point.p, move.p, step);
  for (let halved = 0; halved < 40; halved++) {
    const allowed = before + 1e-4 * step * move.descent + 1e-14 * Math.abs(before);
    if (withBarriers(problem, p, mu) <= allowed) break;
    step /= 2;
    p = along(point.p, move.p, step);
  }
  const dual = longestStep([point.low, move.low], [point.high, move.high]);
  return {
    p,
    low: along(point.low, move.low, dual),
    high: along(point.high, move.high, dual),
    y: point.y + dual * move.y,
  };
}

/**
 * How far the objective can be above its minimum. f̂ lies above its tangent at p; tangent plus KL
 * term falls apart into weights once the sum has its multiplier y, and each has its minimum in
 * closed form.
 */
function excessOf({ kl, prior, upper }, { p, y }, gradient) {
  let excess = 0;
  for (let j = 0; j < p.length; j++) {
    const slope = gradient[j] + y;
    const cost = (s) => slope * s + (kl > 0 && s > 0 ? kl * s * Math.log(s / prior[j]) : 0);
    const best = kl > 0 ? prior[j] * Math.exp(-slope / kl - 1) : slope < 0 ? upper[j] : 0;
    excess += cost(p[j]) - cost(Math.min(best, upper[j]));
  }
  return excess;
}

/**
 * Weights between 0 and `upper` with the sum `total` that minimise the objective. Returns them with
 * a bound of how far the objective is above its minimum, and the Newton steps taken.
 */
function minimise(problem) {
  const { upper, total } = problem;
  const n = upper.length;
  const room = sumOf(upper);
  // Caps that only just suffice leave nothing to choose.
  if (room <= total * (1 + 1e-9)) return { weights: upper, excess: 0, steps: 0 };
  // A weight that cannot reach its bound has none; a far one keeps the formulas the same.
  problem = { ...problem, upper: upper.map((u) => (u < total ? u : 2 * total)) };
  let point = {
    p: upper.map((u) => (u * total) / room),
    low: new Float64Array(n).fill(1),
    high: new Float64Array(n).fill(1),
    y: 0,
  };
  const tolerance = problem.tolerance * Math.max(1, average(problem.shares, predict(problem.law, point.p)));
  for (let steps = 0; ; steps++) {
    const found = derivatives(problem.law, problem.shares, point.p);
    const excess = excessOf({ ...problem, upper }, point, found.gradient);
    if (excess <= tolerance || steps === MOST_STEPS) return { weights: point.p, excess, steps };
    addDivergence(problem, point.p, found);
    const mu = (0.1 * complementarity(problem, point)) / (2 * n);
    point = advance(problem, point, direction(problem, point, found, mu), mu);
  }
}

/** KL(p‖p₀) with 0·log 0 = 0. */
function divergence(p, prior) {
  return p.reduce((sum, weight, j) => sum + (weight > 0 ? weight * Math.log(weight / prior[j]) : 0), 0);
}

/**
 * The best mix under a request: {shares, kl, prior, caps, held}, where `held` has the weight of
 * every fixed domain and null elsewhere. Returns {weights, objective, active, excess, steps}, or
 * {problem} that says in a sentence why there is no such mix.
 */
function propose(law, request, names) {
  const { shares, kl, prior, caps, held } = request;
  const problem = impossible(request, names);
  if (problem) return { problem };
  const weights = Float64Array.from(held, (value) => value ?? 0);
  const free = Array.from(weights, (_, j) => j).filter((j) => held[j] === null);
  const total = 1 - weights.reduce((a, b) => a + b, 0);
  let solved = { weights: [], excess: 0, steps: 0 };
  if (free.length && total > 1e-12) {
    solved = minimise({
      law: restrict(law, free, weights),
      shares,
      kl,
      prior: Float64Array.from(free, (j) => prior[j]),
      upper: Float64Array.from(free, (j) => Math.min(caps[j], total)),
      total,
      tolerance: request.tolerance ?? TOLERANCE,
    });
    free.forEach((j, at) => (weights[j] = solved.weights[at]));
  }
  const penalty = kl > 0 ? kl * divergence(weights, prior) : 0;
  return {
    weights,
    objective: average(shares, predict(law, weights)) + penalty,
    active: weights.map((weight, j) => Number(weight >= caps[j] * (1 - ACTIVE))),
    excess: solved.excess,
    steps: solved.steps,
  };
}

/** Why no mix meets a request, in a sentence; null where one does. */
function impossible({ caps, held }, names) {
  const percent = (share) => `${(100 * share).toPrecision(3)} %`;
  const over = held.findIndex((value, j) => value !== null && value > caps[j] * (1 + 1e-9));
  if (over >= 0) {
    return `${names[over]} is held at ${percent(held[over])}, above its cap of ${percent(caps[over])}`;
  }
  const fixed = held.reduce((sum, value) => sum + (value ?? 0), 0);
  if (fixed > 1 + 1e-9) return `held weights sum to ${percent(fixed)}, more than a whole mix`;
  const room = caps.reduce((sum, cap, j) => sum + (held[j] === null ? Math.min(cap, 1) : held[j]), 0);
  if (room < 1 - 1e-9) {
    const what = held.some((value) => value !== null) ? "caps and held weights" : "caps k·N/R";
    return `${what} sum to ${percent(room)}, less than a whole mix`;
  }
  return null;
}
