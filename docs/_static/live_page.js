// The live page: sliders, three plots, and points that one adds to the lowest plot.
(function () {
  "use strict";
  const box = document.getElementById("live");
  if (!box || !window.bochnerLive) return;
  const { FAMILIES, sample, estimate, drawn, condition, lines } = window.bochnerLive;

  const SPAN = 10; // Inputs of the functions: 0 to 10
  const TOP = 3; // Functions are drawn between -3 and 3, three standard deviations of the prior
  const LAGS = 8; // Longest distance in the plot of the kernel
  const STEPS = 160; // Points of a curve
  const MOST = 30; // Points that one can add: the matrix is small, and sliders stay smooth
  const EXAMPLE = [
    [0.8, 0.4], [1.7, 1.3], [2.3, 1.0], [3.1, -0.4], [4.0, -1.2], [7.2, 1.1], [8.1, 0.2],
  ]; // A wave with a gap
  const CURVES = ["var(--live-2)", "var(--live-3)", "var(--live-4)"];

  const state = { seed: 1, points: EXAMPLE.map(([x, y]) => ({ x, y })) };
  const part = (name) => box.querySelector(`[data-live="${name}"]`);
  const grid = (low, high, count) =>
    Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);
  const short = (value) => String(+value.toPrecision(3));

  for (const [name, family] of Object.entries(FAMILIES))
    part("family").append(new Option(family.label, name));

  // Axes of a plot: the width in pixels is that of the page, so that texts stay readable.
  function frame(name, height, [x0, x1], [y0, y1], label) {
    const svg = part(name);
    const width = Math.max(240, svg.clientWidth || 320);
    const [left, right, top, bottom] = [38, 8, 8, 34];
    const X = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - right);
    const Y = (y) => top + ((y1 - y) / (y1 - y0)) * (height - top - bottom);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    const ticks = (low, high, count) => {
      const rough = (high - low) / count;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
      return grid(
        Math.ceil(low / step) * step,
        Math.floor(high / step + 1e-9) * step,
        Math.round(Math.floor(high / step + 1e-9) - Math.ceil(low / step)) || 1,
      ).filter((t) => t <= high + 1e-9);
    };
    let body = "";
    for (const t of ticks(x0, x1, width < 400 ? 5 : 8))
      body += `<text x="${X(t)}" y="${height - 19}" class="tick" text-anchor="middle">${short(t)}</text>
        <path d="M${X(t)} ${top}V${height - bottom}" class="grid"/>`;
    for (const t of ticks(y0, y1, 4))
      body += `<text x="${left - 5}" y="${Y(t) + 4}" class="tick" text-anchor="end">${short(t)}</text>
        <path d="M${left} ${Y(t)}H${width - right}" class="grid"/>`;
    body += `<text x="${(left + width) / 2}" y="${height - 3}" class="tick" text-anchor="middle">${label}</text>`;
    const path = (xs, f) => {
      const low = y0 - (y1 - y0);
      const high = y1 + (y1 - y0);
      const at = (x) => Y(Math.min(high, Math.max(low, f(x)))).toFixed(1);
      return "M" + xs.map((x) => `${X(x).toFixed(1)} ${at(x)}`).join("L");
    };
    const clip = `<clipPath id="live-${name}"><rect x="${left}" y="${top}" width="${width - left - right}"
      height="${height - top - bottom}"/></clipPath>`;
    return {
      X,
      Y,
      path,
      line: (xs, f, color, more = "") =>
        (body += `<path d="${path(xs, f)}" fill="none" stroke="${color}" stroke-width="2" ${more}
          clip-path="url(#live-${name})"/>`),
      add: (text) => (body += text),
      inverse: (px, py) => ({
        x: x0 + ((px - left) / (width - left - right)) * (x1 - x0),
        y: y1 - ((py - top) / (height - top - bottom)) * (y1 - y0),
      }),
      show: () => (svg.innerHTML = clip + body),
    };
  }

  function spectrum(family, l, frequencies) {
    // Five deviations of a Gaussian; the heavy tails of rough kernels go on.
    const end = family.lines ? 9 : Math.min(5 / l, 25);
    const found = family.lines ? lines(l).filter((one) => one.omega <= end) : [];
    const omega = grid(0, end, STEPS);
    const values = family.lines
      ? found.map((one) => one.weight)
      : omega.map((w) => 2 * family.density(w, l));
    const high = 1.08 * Math.max(...values);
    const low = Math.min(0, 1.15 * Math.min(...values)) - 0.16 * high;
    const plot = frame("spectrum", 230, [0, end], [low, high], "frequency");
    if (family.lines)
      for (const one of found)
        plot.add(`<path d="M${plot.X(one.omega)} ${plot.Y(0)}V${plot.Y(one.weight)}"
          stroke="var(--live-1)" stroke-width="4"/>`);
    else {
      plot.line(omega, (w) => 2 * family.density(w, l), "var(--live-1)");
      plot.add(`<path d="${plot.path(omega, (w) => 2 * family.density(w, l))}L${plot.X(end)} ${plot.Y(0)}
        L${plot.X(0)} ${plot.Y(0)}Z" fill="var(--live-1)" opacity="0.2"/>`);
    }
    plot.add(`<path d="M${plot.X(0)} ${plot.Y(0)}H${plot.X(end)}" class="zero"/>`);
    for (const f of frequencies) {
      const size = Math.abs(f.omega);
      if (size > end) continue;
      const color = f.weight < 0 ? "var(--live-2)" : "currentColor";
      plot.add(`<path d="M${plot.X(size)} ${plot.Y(low)}V${plot.Y(low + 0.13 * high)}"
        stroke="${color}" opacity="0.6"/>`);
    }
    plot.show();
  }

  function kernelPlot(family, l, frequencies) {
    const lag = grid(0, LAGS, STEPS);
    const error = Math.max(...lag.map((t) => Math.abs(family.kernel(t, l) - estimate(frequencies, t))));
    const low = family.isIndefinite ? -0.5 : -0.6;
    const plot = frame("kernel", 230, [0, LAGS], [low, 1.1], "distance");
    plot.line(lag, (t) => estimate(frequencies, t), "var(--live-2)");
    plot.line(lag, (t) => family.kernel(t, l), "var(--live-1)", 'stroke-dasharray="6 4"');
    plot.show();
    return error;
  }

  function functions(family, l, frequencies, noise) {
    const plot = frame("functions", 320, [0, SPAN], [-TOP, TOP], "input x");
    state.plot = plot;
    const x = grid(0, SPAN, STEPS);
    const shown = part("draws").checked;
    if (!family.isIndefinite) {
      const posterior = condition((t) => estimate(frequencies, t), state.points, noise);
      const exact = condition((t) => family.kernel(t, l), state.points, noise);
      const band = x.map((at) => [posterior.mean(at), 1.645 * posterior.std(at)]);
      const upper = band.map(([m, s], i) => `${plot.X(x[i]).toFixed(1)} ${plot.Y(m + s).toFixed(1)}`);
      const lower = band.map(([m, s], i) => `${plot.X(x[i]).toFixed(1)} ${plot.Y(m - s).toFixed(1)}`);
      plot.add(`<path d="M${upper.join("L")}L${lower.reverse().join("L")}Z" fill="var(--live-1)"
        opacity="0.18" clip-path="url(#live-functions)"/>`);
      if (shown)
        CURVES.forEach((color, i) => {
          // A seed for each draw, and another one for its noise
          const prior = drawn(frequencies, 1000 * state.seed + 2 * i);
          plot.line(x, posterior.draw(prior, 1000 * state.seed + 2 * i + 1), color, 'opacity="0.75"');
        });
      plot.line(x, exact.mean, "currentColor", 'stroke-dasharray="6 4"');
      plot.line(x, posterior.mean, "var(--live-1)", 'style="stroke-width:3"');
    }
    for (const p of state.points)
      plot.add(`<circle cx="${plot.X(p.x)}" cy="${plot.Y(p.y)}" r="5" class="point"/>`);
    plot.show();
  }

  function update() {
    const name = part("family").value;
    const family = FAMILIES[name];
    const l = +part("length").value;
    const p = 2 ** +part("features").value;
    const noise = +part("noise").value;
    part("length-value").textContent = l.toFixed(1);
    part("features-value").textContent = p;
    part("noise-value").textContent = noise.toFixed(2);
    const frequencies = sample(name, l, p / 2, state.seed);
    spectrum(family, l, frequencies);
    const error = kernelPlot(family, l, frequencies);
    functions(family, l, frequencies, noise);
    part("status").textContent =
      `Largest error of the kernel with ${p} features: ${error.toFixed(3)}. ` +
      (family.isIndefinite
        ? "The kernel is indefinite: no Gaussian process has it, and orange frequencies have a negative sign."
        : `${state.points.length} points.`);
    part("code").textContent = `FourierFeatures(${family.code(l.toFixed(1))}, ${p}, scheme="iid")`;
  }

  function add(x, y) {
    if (state.points.length >= MOST || !isFinite(x) || !isFinite(y)) return;
    state.points.push({ x: Math.min(SPAN, Math.max(0, x)), y: Math.min(TOP, Math.max(-TOP, y)) });
    update();
  }

  for (const name of ["family", "length", "features", "noise", "draws"])
    part(name).addEventListener("input", update);
  const press = (name, action) =>
    part(name).addEventListener("click", () => {
      action();
      update();
    });
  press("new", () => state.seed++);
  press("clear", () => (state.points = []));
  press("example", () => (state.points = EXAMPLE.map(([x, y]) => ({ x, y }))));
  press("undo", () => state.points.pop());
  part("form").addEventListener("submit", (event) => {
    event.preventDefault();
    add(+part("x").value, +part("y").value);
  });
  part("functions").addEventListener("click", (event) => {
    const place = part("functions").getBoundingClientRect();
    const [px, py] = [event.clientX - place.left, event.clientY - place.top];
    const near = state.points.findIndex(
      (p) => Math.hypot(state.plot.X(p.x) - px, state.plot.Y(p.y) - py) < 9,
    );
    if (near >= 0) {
      state.points.splice(near, 1);
      update();
    } else {
      const { x, y } = state.plot.inverse(px, py);
      add(x, y);
    }
  });
  new ResizeObserver(update).observe(box);
  update();
})();
