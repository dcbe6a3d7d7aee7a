"use strict";
// Everything works without this script: it adds keys, keeps the focus, and polls while visible.
{
  const POLL_SECONDS = 30;
  const KEYS = "memstore-keys";
  const one = (selector, within = document) => within.querySelector(selector);
  const every = (selector) => [...document.querySelectorAll(selector)];
  const isOff = () => localStorage.getItem(KEYS) === "off";
  const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]");

  // -- keys -----------------------------------------------------------------------------------

  const rows = () => every("[data-row]");
  const current = () => rows().find((row) => row.contains(document.activeElement));

  function focus(element) {
    if (!element) return;
    if (!element.matches("a, button, input, select, textarea, [tabindex]")) element.tabIndex = -1;
    element.focus();
    element.scrollIntoView({ block: "nearest" });
  }

  function move(by) {
    const all = rows();
    const at = all.indexOf(current());
    focus(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))]);
  }

  function press(key) {
    const button = one(`[data-key="${key}"]`, current() || rows()[0] || document);
    if (button) button.click();
    return Boolean(button);
  }

  const bindings = {
    "/": () => focus(one("main [data-search]") ?? one("[data-search]")) ?? true,
    j: () => press("j") || (move(1) ?? true),
    k: () => move(-1) ?? true,
    a: () => press("a"),
    r: () => press("r"),
    x: () => press("x"),
    u: () => {
      const undo = every(".undo, [data-undo]").pop();
      if (undo) undo.click();
      return Boolean(undo);
    },
    "?": () => one("#keys").showModal() ?? true,
  };

  let isGoing = false; // "g" was pressed: the next key names a page

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (!one("dialog[open]")) openPalette();
      return;
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isOff() || isTyping(target) || one("dialog[open]")) return;
    const page = isGoing && one(`[data-go="${CSS.escape(event.key)}"]`);
    isGoing = event.key === "g";
    if (page) {
      page.click();
    } else if (event.key === "Enter" && target.matches("[data-row]")) {
      const open = one("[data-open]", target);
      if (open) open.click();
    } else if (Object.hasOwn(bindings, event.key) && bindings[event.key]() !== false) {
      event.preventDefault();
    }
  });

  // -- the palette: the field keeps the focus, and the last answer wins -----------------------------

  const TYPING_MILLISECONDS = 120;
  const palette = one("#palette");
  const list = one("#choices");
  const field = palette && one("[role=combobox]", palette);
  const options = () => [...list.querySelectorAll("[role=option]")];
  let chosen = -1;
  let asked = 0;
  let timer = 0;

  function choose(at) {
    const all = options();
    all[chosen]?.setAttribute("aria-selected", "false");
    chosen = all.length ? (at + all.length) % all.length : -1;
    const option = all[chosen];
    field.setAttribute("aria-activedescendant", option ? option.id : "");
    if (!option) return;
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
  }

  async function fill() {
    const mine = ++asked;
    const body = new URLSearchParams(new FormData(field.form));
    try {
      const answer = await fetch(field.form.dataset.list, { method: "POST", body, headers: { "HX-Request": "true" } });
      if (!answer.ok || mine !== asked) return;
      list.innerHTML = await answer.text();
      chosen = -1;
      choose(0);
    } catch {
      // The server is gone: what is chosen here says so.
    }
  }

  function openPalette() {
    palette.showModal();
    field.select();
    fill();
  }

  if (palette) {
    field.addEventListener("input", () => {
      asked += 1; // an answer that is on its way is about other words
      chosen = -1;
      clearTimeout(timer);
      timer = setTimeout(fill, TYPING_MILLISECONDS);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
      else if (event.key === "Enter" && options()[chosen]) options()[chosen].click();
      else return; // Enter while nothing is chosen searches as an agent would
      event.preventDefault();
    });
    palette.addEventListener("click", (event) => event.target === palette && palette.close());
  }

  // -- after a swap: the focus, and what screen readers hear --------------------------------------

  let swapped = null;

  document.addEventListener("htmx:before:swap", (event) => {
    const row = event.detail.ctx.target?.closest?.("[data-row]");
    const all = rows();
    swapped = row ? { place: all.indexOf(row), had: row.contains(document.activeElement) } : null;
  });

  document.addEventListener("htmx:after:swap", () => {
    every(".said:not([data-heard])").forEach((element) => {
      element.dataset.heard = "";
      one("#said").textContent = element.textContent;
    });
    if (!swapped || !swapped.had || document.activeElement !== document.body) return;
    const wanted = one("[data-focus]");
    const all = rows();
    focus(wanted || all[Math.min(swapped.place, all.length - 1)] || one("#main"));
    swapped = null;
  });

  for (const name of ["htmx:error", "htmx:response:error"]) {
    document.addEventListener(name, (event) => {
      if (event.detail.ctx?.response) return; // the answer says what is wrong
      one("#problems").textContent =
        "The server does not answer, so it is not known whether this was done. " +
        "Start it again with memstore web, and look.";
    });
  }

  // -- what is there only with a script ---------------------------------------------------------

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (!opener) return;
    if (opener.dataset.opens === "palette") openPalette();
    else document.getElementById(opener.dataset.opens).showModal();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-drops]");
    if (button) document.getElementById(button.dataset.drops).replaceChildren();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copies]");
    if (!button) return;
    navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent).then(() => {
      one("#said").textContent = "Copied";
    });
  });

  every(".for-script").forEach((element) => (element.hidden = false));
  const box = one("#keys-on");
  if (box) {
    box.checked = !isOff();
    box.addEventListener("change", () => localStorage.setItem(KEYS, box.checked ? "on" : "off"));
  }

  if (/Mac|iPhone|iPad/.test(navigator.platform)) every(".find kbd").forEach((one) => (one.textContent = "⌘K"));

  // -- a small poll; nothing moves under the reader ------------------------------------------------

  const pulse = one("#pulse");

  async function poll() {
    if (document.visibilityState !== "visible") return;
    try {
      const answer = await fetch(pulse.dataset.pulse, { headers: { "HX-Request": "true" } });
      const text = answer.ok ? await answer.text() : "";
      if (!text.trim() || text === pulse.dataset.last) return;
      pulse.innerHTML = pulse.dataset.last = text;
      const waiting = one("[data-waiting] > *", pulse);
      if (waiting) one("#waiting").replaceWith(waiting);
    } catch {
      // The server is gone: the next thing that is done here says so.
    }
  }

  if (pulse) setInterval(poll, POLL_SECONDS * 1000);
}
