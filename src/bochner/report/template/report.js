"use strict";
(() => {
  const root = document.documentElement;
  const remembered = (name, value) => {
    // Frames of notebooks may not store anything.
    try {
      if (value) localStorage.setItem(name, value);
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const label = () => {
    toggle.textContent = isDark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  const kept = remembered("bochner-theme");
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remembered("bochner-theme", root.dataset.theme);
    label();
  });
  dark.addEventListener("change", label);
  label();

  const contents = document.querySelector("nav details");
  const wide = matchMedia("(min-width: 68rem)");
  const fold = () => { contents.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && !wide.matches) contents.open = false;
  });
  addEventListener("beforeprint", () => { contents.open = true; });

  const order = new Intl.Collator(undefined, { numeric: true }).compare;
  const key = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (typeof a !== "number" || typeof b !== "number") return order(String(a), String(b));
    // Cells without a number come last.
    return Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : a - b;
  };
  for (const button of document.querySelectorAll("thead button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const body = head.closest("table").tBodies[0];
      const isNumber = head.classList.contains("number");
      const last = head.getAttribute("aria-sort");
      const next = last ? (last === "ascending" ? "descending" : "ascending")
        : (isNumber ? "descending" : "ascending");
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
      rows.sort((a, b) => sign * compare(a[0], b[0]));
      body.append(...rows.map((pair) => pair[1]));
    });
  }

  const links = new Map(
    [...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const id of links.keys()) watch.observe(document.getElementById(id));
})();
