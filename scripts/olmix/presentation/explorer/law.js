// A fitted law: per task the sum over members of weight·(constant + exp(intercept + A·p − B·g(p))),
// with g(p) = log(1 + p/s). `olmix.regressors.terms` is the same form in Python.
"use strict";

const FLOATS = { float32: Float32Array, float64: Float64Array };

/** Little-endian floats from base64. */
function decodeFloats(text, type) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Float64Array.from(new FLOATS[type](bytes.buffer));
}

/** The members of an embedded law, their arrays decoded; matrices are rows of tasks. */
function decodeLaw(record, type) {
  return record.map((member) => ({
    family: member.family,
    weight: decodeFloats(member.weight, type),
    constant: decodeFloats(member.constant, type),
    intercept: decodeFloats(member.intercept, type),
    linear: decodeFloats(member.linear, type),
    curved: member.curved === null ? null : decodeFloats(member.curved, type),
    shift: member.curved === null ? null : decodeFloats(member.shift, type),
  }));
}

/** g(p), g'(p) and g''(p) of every domain. */
function curve(member, p) {
  const value = new Float64Array(p.length);
  const slope = new Float64Array(p.length);
  const bend = new Float64Array(p.length);
  for (let j = 0; j < p.length; j++) {
    const base = p[j] + member.shift[j];
    value[j] = Math.log1p(p[j] / member.shift[j]);
    slope[j] = 1 / base;
    bend[j] = -1 / (base * base);
  }
  return { value, slope, bend };
}

/** intercept + A·p − B·g(p) of every task. */
function exponents(member, p, g) {
  const found = Float64Array.from(member.intercept);
  for (let i = 0, at = 0; i < found.length; i++) {
    let sum = 0;
    for (let j = 0; j < p.length; j++, at++) {
      sum += member.linear[at] * p[j];
      if (member.curved) sum -= member.curved[at] * g.value[j];
    }
    found[i] += sum;
  }
  return found;
}

/** What one member alone predicts of every task. */
function predictMember(member, p) {
  const g = member.curved && curve(member, p);
  return exponents(member, p, g).map((exponent, i) => member.constant[i] + Math.exp(exponent));
}

/** What the members predict of every task: first all together, then each alone. */
function predictEach(law, p) {
  const alone = law.map((member) => predictMember(member, p));
  const together = new Float64Array(law[0].weight.length);
  law.forEach((member, l) => alone[l].forEach((value, i) => (together[i] += member.weight[i] * value)));
  return [together, ...alone];
}

/** What the members predict together of every task. */
function predict(law, p) {
  return predictEach(law, p)[0];
}

function sumOf(values) {
  return values.reduce((a, b) => a + b, 0);
}

/** Σ shares·values. */
function average(shares, values) {
  return values.reduce((sum, value, i) => sum + shares[i] * value, 0);
}

/** The same law over the free domains alone: what the fixed ones add is part of the intercept. */
function restrict(law, free, p) {
  const isFree = new Set(free);
  const fixed = Array.from(p, (_, j) => j).filter((j) => !isFree.has(j));
  return law.map((member) => {
    const tasks = member.weight.length;
    const g = member.curved && curve(member, p);
    const intercept = Float64Array.from(member.intercept);
    const linear = new Float64Array(tasks * free.length);
    const curved = member.curved && new Float64Array(tasks * free.length);
    for (let i = 0; i < tasks; i++) {
      const row = i * p.length;
      for (const j of fixed) {
        intercept[i] += member.linear[row + j] * p[j];
        if (curved) intercept[i] -= member.curved[row + j] * g.value[j];
      }
      free.forEach((j, at) => {
        linear[i * free.length + at] = member.linear[row + j];
        if (curved) curved[i * free.length + at] = member.curved[row + j];
      });
    }
    const shift = member.shift && Float64Array.from(free, (j) => member.shift[j]);
    return { ...member, intercept, linear, curved, shift };
  });
}

/**
 * Gradient of Σ_i shares_i·f_i(p), and its Hessian as an upper triangle, row by row.
 * Every term adds t·vvᵀ + t·diag(−B·g'') with t its exponential and v = A − B·g'.
 */
function derivatives(law, shares, p) {
  const n = p.length;
  const gradient = new Float64Array(n);
  const hessian = new Float64Array(n * n);
  const v = new Float64Array(n);
  for (const member of law) {
    const g = member.curved && curve(member, p);
    const exponent = exponents(member, p, g);
    for (let i = 0; i < exponent.length; i++) {
      const t = shares[i] * member.weight[i] * Math.exp(exponent[i]);
      if (t === 0) continue;
      const row = i * n;
      for (let j = 0; j < n; j++) {
        v[j] = member.linear[row + j] - (g ? member.curved[row + j] * g.slope[j] : 0);
        gradient[j] += t * v[j];
      }
      for (let a = 0; a < n; a++) {
        const scaled = t * v[a];
        for (let b = a; b < n; b++) hessian[a * n + b] += scaled * v[b];
        if (g) hessian[a * n + a] -= t * member.curved[row + a] * g.bend[a];
      }
    }
  }
  return { gradient, hessian };
}
