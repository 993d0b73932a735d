"use strict";
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const shown = document.getElementById("shown");
  const groups = [...document.querySelectorAll(".group")];
  const controls = [...form.elements].filter((one) => one.name && one.name !== "q");
  const keys = [...new Set(controls.map((one) => one.name))];
  const value = (element, key) => {
    if (key === "file" && !element.dataset.file) {
      return element.querySelector(".at").textContent.replace(/:\d+$/, "");
    }
    const holder = element.closest(`[data-${key}]`);
    return holder ? holder.dataset[key] : "";
  };
  let known;
  const items = () => {
    known ??= [...document.querySelectorAll(".item")].map((element) => ({
      element,
      group: element.closest(".group"),
      text: (element.textContent + " " + keys.map((key) => value(element, key)).join(" ")).toLowerCase(),
      facets: Object.fromEntries(keys.map((key) => [key, value(element, key)])),
    }));
    return known;
  };

  const chosen = () => {
    const state = new URLSearchParams();
    const query = form.elements.q.value.trim();
    if (query) state.set("q", query);
    for (const one of controls) {
      if (one.type === "checkbox" ? one.checked : one.value) state.append(one.name, one.value);
    }
    return state;
  };
  const apply = () => {
    const state = chosen();
    const words = (state.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = keys.map((key) => [key, state.getAll(key)]).filter(([, values]) => values.length);
    const left = new Map(groups.map((group) => [group, 0]));
    let count = 0;
    for (const { element, group, text, facets } of items()) {
      const fits =
        wanted.every(([key, values]) => values.includes(facets[key])) && words.every((word) => text.includes(word));
      element.classList.toggle("off", !fits);
      count += fits;
      if (group && fits) left.set(group, left.get(group) + 1);
    }
    for (const [group, number] of left) group.classList.toggle("off", !number);
    shown.value = `${count} of ${items().length} ${shown.dataset.noun} shown`;
  };
  const remember = () => {
    const state = chosen().toString();
    history.replaceState(null, "", state ? `#${state}` : location.pathname + location.search);
  };
  const restore = () => {
    const hash = location.hash.slice(1);
    const target = hash && !hash.includes("=") ? document.getElementById(hash) : null;
    if (target) {
      // A link to an entry that is filtered away shows it.
      if (!target.closest(".off")) return;
      form.reset();
      apply();
      target.scrollIntoView();
      return;
    }
    const state = new URLSearchParams(hash);
    form.elements.q.value = state.get("q") ?? "";
    for (const one of controls) {
      if (one.type === "checkbox") one.checked = state.getAll(one.name).includes(one.value);
      else one.value = state.get(one.name) ?? "";
    }
    if (hash || known) apply();
  };

  let waiting = 0;
  const changed = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      apply();
      remember();
    });
  };
  form.addEventListener("input", changed);
  form.addEventListener("reset", () => setTimeout(changed));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", restore);
  form.hidden = false;
  restore();
})();
