// Kernels of one input, their spectra, random features and Gaussian processes, for the live page.
// The formulas are those of bochner.kernels; tests/docs/test_live.py compares the numbers.
(function (root) {
  "use strict";

  const PERIOD = 5.5; // Of the periodic kernel; it is written on the page
  const WEIGHT = 0.6; // Of the wider Gaussian in the difference: negative at medium distances
  const LARGEST = 512; // Most features of the page

  const gaussian = (t, l) => Math.exp((-t * t) / (2 * l * l));
  const gaussianDensity = (w, l) =>
    (l / Math.sqrt(2 * Math.PI)) * Math.exp((-w * w * l * l) / 2);

  // Weights of the lines at 2 pi j / PERIOD: exp(-x) I_j(x), twice that for j > 0, with x = 1 / l².
  // Miller's downward recurrence, normalised by I_0 + 2 I_1 + 2 I_2 + ... = exp(x).
  function lines(l) {
    const x = 1 / (l * l);
    const count = Math.ceil(12 + 8 / l);
    const bessel = new Float64Array(count + 17);
    bessel[count + 15] = 1e-300;
    for (let j = count + 15; j > 0; j--) {
      bessel[j - 1] = ((2 * j) / x) * bessel[j] + bessel[j + 1];
      if (bessel[j - 1] > 1e200) for (let i = j - 1; i < bessel.length; i++) bessel[i] *= 1e-250;
    }
    let total = bessel[0];
    for (let j = 1; j < bessel.length; j++) total += 2 * bessel[j];
    return Array.from({ length: count }, (_, j) => ({
      omega: (2 * Math.PI * j) / PERIOD,
      weight: ((j ? 2 : 1) * bessel[j]) / total,
    }));
  }

  // Matérn kernels: Student's t distributions of 2 nu degrees of freedom.
  const matern = (nu, kernel, constant) => ({
    kernel: (t, l) => kernel((Math.sqrt(2 * nu) * Math.abs(t)) / l),
    density: (w, l) => l * constant * Math.pow(2 * nu + w * w * l * l, -(nu + 0.5)),
    draw: (normal, l) => {
      let square = 0;
      for (let i = 1; i <= 2 * nu; i++) square += normal[i] * normal[i];
      return normal[0] / Math.sqrt(square / (2 * nu)) / l;
    },
  });

  const FAMILIES = {
    gaussian: {
      label: "Gaussian",
      code: (l) => `kernels.Gaussian(${l})`,
      kernel: gaussian,
      density: gaussianDensity,
      draw: (normal, l) => normal[0] / l,
    },
    matern12: {
      label: "Matérn 1/2",
      code: (l) => `kernels.Matern(${l}, nu=0.5)`,
      ...matern(0.5, (u) => Math.exp(-u), 1 / Math.PI),
    },
    matern32: {
      label: "Matérn 3/2",
      code: (l) => `kernels.Matern(${l}, nu=1.5)`,
      ...matern(1.5, (u) => (1 + u) * Math.exp(-u), (2 / Math.PI) * Math.pow(3, 1.5)),
    },
    matern52: {
      label: "Matérn 5/2",
      code: (l) => `kernels.Matern(${l}, nu=2.5)`,
      ...matern(
        2.5,
        (u) => (1 + u + (u * u) / 3) * Math.exp(-u),
        (8 / (3 * Math.PI)) * Math.pow(5, 2.5),
      ),
    },
    rational: {
      label: "Rational quadratic",
      code: (l) => `kernels.RationalQuadratic(${l}, alpha=1.0)`,
      kernel: (t, l) => 1 / (1 + (t * t) / (2 * l * l)),
      density: (w, l) => (l / Math.SQRT2) * Math.exp(-Math.SQRT2 * l * Math.abs(w)),
      // A Laplace distribution: a normal variable times the root of an exponential one.
      draw: (normal, l) =>
        (normal[0] * Math.sqrt(normal[1] * normal[1] + normal[2] * normal[2])) / (Math.SQRT2 * l),
    },
    periodic: {
      label: "Periodic",
      code: (l) => `kernels.Periodic(period=${PERIOD}, length_scale=${l})`,
      kernel: (t, l) => {
        const s = Math.sin((Math.PI * t) / PERIOD) / l;
        return Math.exp(-2 * s * s);
      },
      lines,
    },
    difference: {
      label: "Difference of Gaussians",
      code: (l) => `kernels.Gaussian(${l}) - ${WEIGHT} * kernels.Gaussian(2 * ${l})`,
      kernel: (t, l) => gaussian(t, l) - WEIGHT * gaussian(t, 2 * l),
      density: (w, l) => gaussianDensity(w, l) - WEIGHT * gaussianDensity(w, 2 * l),
      isIndefinite: true,
    },
  };

  // A small generator of random numbers (mulberry32), so that a seed gives the same page again.
  function generator(seed) {
    let a = seed >>> 0;
    return function () {
      a = (a + 0x6d2b79f5) >>> 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  function normals(count, seed) {
    const uniform = generator(seed);
    return Float64Array.from({ length: count }, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
      return radius * Math.cos(2 * Math.PI * uniform());
    });
  }

  // Frequencies and their weights: the estimate of the kernel is the sum of weight * cos(omega * t).
  // A seed has the same standard variables for all length scales, so that sliders move pictures.
  function sample(name, l, count, seed) {
    const family = FAMILIES[name];
    if (family.lines) return sampleLines(family.lines(l), count, seed);
    const width = 6; // A normal variable, and at most five for its scale
    const standard = normals(count * width, seed);
    const row = (j) => standard.subarray(j * width, (j + 1) * width);
    if (!family.isIndefinite)
      return Array.from({ length: count }, (_, j) => ({
        omega: family.draw(row(j), l),
        weight: 1 / count,
      }));
    const negative = Math.max(1, Math.round((count * WEIGHT) / (1 + WEIGHT)));
    const positive = Math.max(1, count - negative);
    return Array.from({ length: positive + negative }, (_, j) => ({
      omega: row(j % count)[j < positive ? 0 : 1] / (j < positive ? l : 2 * l),
      weight: j < positive ? 1 / positive : -WEIGHT / negative,
    }));
  }

  function sampleLines(spectrum, count, seed) {
    const uniform = generator(seed);
    return Array.from({ length: count }, () => {
      let left = uniform();
      let j = 0;
      while (j < spectrum.length - 1 && left > spectrum[j].weight) left -= spectrum[j++].weight;
      return { omega: spectrum[j].omega, weight: 1 / count };
    });
  }

  const estimate = (frequencies, t) =>
    frequencies.reduce((sum, f) => sum + f.weight * Math.cos(f.omega * t), 0);

  // Functions with the covariance of the features: independent normal weights of cosine and sine.
  function drawn(frequencies, seed) {
    const weights = normals(2 * frequencies.length, seed);
    return (x) =>
      frequencies.reduce(
        (sum, f, j) =>
          sum +
          Math.sqrt(f.weight) *
            (weights[2 * j] * Math.cos(f.omega * x) + weights[2 * j + 1] * Math.sin(f.omega * x)),
        0,
      );
  }

  // The lower Cholesky factor of a positive definite matrix.
  function cholesky(A) {
    const L = A.map((row) => Float64Array.from(row));
    for (let i = 0; i < A.length; i++)
      for (let j = 0; j <= i; j++) {
        let sum = A[i][j];
        for (let k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
        L[i][j] = i === j ? Math.sqrt(Math.max(sum, 1e-14)) : sum / L[j][j];
      }
    return L;
  }

  function forward(L, b) {
    const x = Float64Array.from(b);
    for (let i = 0; i < x.length; i++) {
      for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
      x[i] /= L[i][i];
    }
    return x;
  }

  function solve(L, b) {
    const x = forward(L, b);
    for (let i = x.length - 1; i >= 0; i--) {
      for (let k = i + 1; k < x.length; k++) x[i] -= L[k][i] * x[k];
      x[i] /= L[i][i];
    }
    return x;
  }

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

  // Condition a Gaussian process with the covariance k(t) on points {x, y} with noise.
  function condition(k, points, noise) {
    const gram = points.map((p, i) =>
      points.map((q, j) => k(p.x - q.x) + (i === j ? noise * noise : 0)),
    );
    const L = cholesky(gram);
    const row = (x) => points.map((p) => k(x - p.x));
    const weights = solve(
      L,
      points.map((p) => p.y),
    );
    return {
      mean: (x) => dot(row(x), weights),
      std: (x) => {
        const part = forward(L, row(x));
        return Math.sqrt(Math.max(k(0) - dot(part, part), 0));
      },
      // A draw of the posterior from one of the prior and noise (Matheron's rule).
      draw: (prior, seed) => {
        const errors = normals(points.length, seed);
        const update = solve(
          L,
          points.map((p, i) => p.y - prior(p.x) - noise * errors[i]),
        );
        return (x) => prior(x) + dot(row(x), update);
      },
    };
  }

  const live = { FAMILIES, LARGEST, PERIOD, sample, estimate, drawn, condition, lines };
  if (typeof module === "object" && module.exports) module.exports = live;
  else root.bochnerLive = live;
})(typeof globalThis === "object" ? globalThis : this);
