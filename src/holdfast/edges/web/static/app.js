// What the page does beyond forms and links: keys, the theme, live changes, and telling when the
// server is away. Texts come from the page; nothing here builds markup from data.
"use strict";

const body = document.body;
const text = (name) => body.dataset[name] || "";

function notice(words, bad) {
  const place = document.getElementById("notices");
  if (!place) return;
  const made = document.createElement("div");
  made.className = bad ? "notice bad" : "notice";
  if (bad) made.setAttribute("role", "alert");
  const said = document.createElement("span");
  said.textContent = words;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "close";
  close.dataset.close = "";
  close.setAttribute("aria-label", "×");
  close.textContent = "×";
  made.append(said, close);
  place.prepend(made);
  trim(place);
}

// Three at most, so that they do not cover the page.
function trim(place) {
  while (place.children.length > 3) place.lastElementChild.remove();
}

// Times in the zone of the reader.
const units = [["year", 31557600], ["month", 2629800], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const dayOnly = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
function showTimes(root) {
  for (const one of root.querySelectorAll("time[datetime]")) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    one.title = full.format(at);
    if (one.dataset.as === "ago") {
      const seconds = (at - Date.now()) / 1000;
      const unit = units.find(([, size]) => Math.abs(seconds) >= size);
      one.textContent = unit ? relative.format(Math.round(seconds / unit[1]), unit[0]) : "just now";
    } else one.textContent = (one.dataset.as === "day" ? dayOnly : full).format(at);
  }
}
showTimes(document);
document.addEventListener("htmx:afterSwap", (event) => {
  showTimes(document.getElementById(event.detail.target.id) || event.detail.target);
});
document.addEventListener("htmx:oobAfterSwap", (event) => {
  showTimes(event.detail.target);
  if (event.detail.target.id === "notices") trim(event.detail.target);
});
document.addEventListener("htmx:afterSettle", (event) => {
  const swapped = event.detail.elt;
  const field = swapped.matches?.("[data-guard]") && swapped.querySelector("[autofocus]");
  if (field) field.focus();
  const banner = document.getElementById("banner");
  if (swapped.id === "memory" && banner.textContent === text("changed")) banner.textContent = "";
});

document.querySelector("[data-scroll]")?.scrollIntoView({ block: "center" });

// Clicks
document.addEventListener("click", (event) => {
  const on = (selector) => event.target.closest(selector);
  let found;
  if (on("[data-close]")) on(".notice")?.remove();
  if ((found = on("[data-open]"))) document.querySelector(found.dataset.open)?.showModal();
  if (on("[data-shut]")) on("dialog")?.close();
  if (on("[data-theme-toggle]")) {
    const root = document.documentElement;
    const dark = getComputedStyle(root).colorScheme.includes("dark");
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* Storage may be off. */ }
    document.dispatchEvent(new CustomEvent("theme"));
  }
  for (const open of document.querySelectorAll("details.why[open], details.past[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
  if (event.target.nodeName === "DIALOG") event.target.close();
});
// Leaving the search field is no new search: its answer would take the focus off the result that an arrow key went to.
document.addEventListener("change", (event) => { if (event.target.id === "q") event.stopPropagation(); }, true);
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-go]")) location.href = event.target.value;
  if (event.target.matches("[data-check-all]")) {
    for (const one of document.querySelectorAll(event.target.dataset.checkAll)) one.checked = event.target.checked;
  }
});

// As of a day: the slider and the date say the same.
const range = document.querySelector("[data-as-of-range]");
if (range) {
  const date = document.querySelector("[data-as-of]");
  const chip = range.closest(".past");
  const shown = document.querySelector("[data-as-of-shown]");
  const first = () => Date.parse(range.dataset.first + "T00:00:00Z");
  const show = () => { shown.textContent = date.value ? " " + date.value : ""; chip.toggleAttribute("data-on", Boolean(date.value)); };
  const place = () => { range.value = date.value ? String(Math.round((Date.parse(date.value + "T00:00:00Z") - first()) / 864e5)) : range.max; };
  range.addEventListener("input", () => {
    const days = Number(range.value);
    date.value = days >= Number(range.max) ? "" : new Date(first() + days * 864e5).toISOString().slice(0, 10);
    show();
  });
  date.addEventListener("change", () => { show(); place(); });
  document.querySelector("[data-as-of-now]").addEventListener("click", () => {
    date.value = ""; place(); show();
    date.dispatchEvent(new Event("change", { bubbles: true }));
  });
  // What has to be counted comes after the page, which does not wait for it.
  fetch(range.form.dataset.facets, { headers: { "X-Holdfast-Client": "page" } }).then((answer) => answer.ok ? answer.json() : Promise.reject(answer.status)).then((facets) => {
    range.dataset.first = facets.oldest;
    range.max = String(facets.days);
    place();
    const chosen = range.form.elements.category;
    const known = new Set([...chosen.options].map((option) => option.value));
    for (const name of facets.categories) if (!known.has(name)) chosen.add(new Option(name.replaceAll("_", " "), name));
    const count = document.querySelector("[data-waiting]");
    if (count) { count.textContent = String(facets.waiting); count.hidden = !facets.waiting; }
  }).catch(() => { /* The page works without. */ });
}

// Keys: an element says its own; two keys (g, then one) go to a page.
let chord = 0;
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, textarea, select");
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.target.closest("form")?.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    if (event.key === "/" && event.target.id === "q" && !event.target.value) event.preventDefault();
    if (event.target.id === "q" && event.key === "ArrowDown") { event.preventDefault(); step(1); }
    return;
  }
  if (event.key === "g") { chord = Date.now(); return; }
  if (Date.now() - chord < 1500) {
    chord = 0;
    const link = document.querySelector(`[data-chord="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); return; }
  }
  if (event.key === "j" || event.key === "ArrowDown" && document.activeElement.matches(".hit-link")) { event.preventDefault(); step(1); return; }
  if (event.key === "k" || event.key === "ArrowUp" && document.activeElement.matches(".hit-link")) { event.preventDefault(); step(-1); return; }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("input, textarea")) { target.focus(); target.select?.(); } else target.click();
});
function step(by) {
  const links = [...document.querySelectorAll(".hit-link")];
  const at = links.indexOf(document.activeElement);
  const next = links[Math.max(0, at + by)];
  if (at <= 0 && by < 0) document.getElementById("q")?.focus();
  else if (next) { next.focus(); next.scrollIntoView({ block: "center" }); }
}

// What was typed and not saved is not lost by a slip.
let dirty = false;
document.addEventListener("input", (event) => { if (event.target.closest("[data-guard]")) dirty = true; });
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful && event.target.matches("[data-guard]")) dirty = false;
});
document.addEventListener("click", (event) => { if (event.target.closest("a[data-key=Escape], [data-clean]")) dirty = false; });
addEventListener("beforeunload", (event) => { if (dirty) event.preventDefault(); });

// A notice whose change was undone goes: its button would have nothing left to undo.
document.addEventListener("htmx:afterSettle", (event) => {
  const changeOf = (value) => value.split("@")[0];
  const undone = (event.detail.requestConfig?.formData?.getAll("change") || []).map(changeOf);
  for (const one of document.querySelectorAll(".notice input[name=change]")) {
    if (undone.includes(changeOf(one.value))) one.closest(".notice").remove();
  }
});

// The server says no, or nothing at all.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (xhr.status < 400 || (xhr.getResponseHeader("Content-Type") || "").startsWith("text/html")) return;
  event.detail.shouldSwap = false;
  let said = text("failed");
  try { said = JSON.parse(xhr.responseText).error.message; } catch { /* Not ours. */ }
  notice(said, true);
});
let away = false;
function gone() {
  if (away) return;
  away = true;
  document.getElementById("banner").textContent = text("gone");
  const ask = async () => {
    try {
      if ((await fetch("/healthz", { cache: "no-store" })).ok) {
        away = false;
        document.getElementById("banner").textContent = "";
        notice(text("back"));
        listen();
        return;
      }
    } catch { /* Still away. */ }
    setTimeout(ask, 1500);
  };
  setTimeout(ask, 1000);
}
document.addEventListener("htmx:sendError", gone);

// Live changes. One visible page of a browser listens for all that show the same hub, and passes
// on what it hears: a stream for each would use up the connections that a browser opens to a server.
const hub = body.dataset.hub;
const channel = hub && "BroadcastChannel" in window ? new BroadcastChannel(`holdfast ${hub}`) : null;
if (channel) channel.onmessage = (event) => heard(event.data);
let listening = null;
let lastEvent = "";
async function stream(stop) {
  const headers = { "X-Hub-ID": hub, "X-Holdfast-Client": "page" };
  if (lastEvent) headers["Last-Event-ID"] = lastEvent;
  const answer = await fetch("/v1/events", { headers, signal: stop.signal });
  if (answer.status === 401) { tell("event: end\ndata: {}"); return; }
  if (!answer.ok) throw new Error(String(answer.status));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("ended");
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    parts.forEach(tell);
  }
}
function tell(part) { heard(part); channel?.postMessage(part); }
async function listen() {
  if (!hub || document.hidden || listening || ended) return;
  const stop = listening = new AbortController();
  const run = () => stream(stop);
  try {
    if (navigator.locks) await navigator.locks.request(`holdfast ${hub}`, { signal: stop.signal }, run);
    else await run();
  } catch {
    if (listening === stop) listening = null;
    if (stop.signal.aborted || ended) return;
    setTimeout(async () => {
      try { if ((await fetch("/healthz", { cache: "no-store" })).ok) { listen(); return; } } catch { /* Away. */ }
      gone();
    }, 2000);
  }
}
let ended = false;
function heard(part) {
  const fields = {};
  for (const line of part.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  if (fields.id) lastEvent = fields.id;
  if (fields.event === "end") { ended = true; document.getElementById("banner").textContent = text("ended"); return; }
  if (!fields.event) return;
  const data = JSON.parse(fields.data || "{}");
  // After a moment: a change made here is an event too, and its answer may still be on the way.
  setTimeout(() => {
    const open = document.querySelector("[data-memory]");
    const newer = (one) => one.id === open.dataset.memory && one.version > Number(open.dataset.version);
    if (open && (data.memories || []).some(newer)) document.getElementById("banner").textContent = text("changed");
  }, 1500);
  body.dispatchEvent(new CustomEvent("hub-changed", { detail: data }));
}
// The list of changes as they happen.
body.addEventListener("hub-changed", (event) => {
  const place = document.getElementById("live");
  const { change, memories } = event.detail;
  if (!place || !change) return;
  place.querySelector(".hint")?.remove();
  const words = JSON.parse(place.dataset.words);
  const line = document.createElement("li");
  const time = document.createElement("time");
  time.dateTime = change.at;
  time.dataset.as = "ago";
  const what = document.createElement("b");
  what.textContent = words[change.action] || change.action;
  line.append(what, ` ${change.actor} · ${(memories || []).length} · `, time);
  place.prepend(line);
  showTimes(line);
  while (place.children.length > 50) place.lastElementChild.remove();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) { listening?.abort(); listening = null; } else if (!ended) listen();
});
addEventListener("pagehide", () => listening?.abort());
addEventListener("pageshow", (event) => { if (event.persisted) { listening = null; listen(); } });
listen();

// Signing in: the key goes into a header, which no other page can send.
const signIn = document.querySelector("[data-sign-in]");
signIn?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = signIn.querySelector("[role=alert]");
  const key = signIn.elements.key.value.trim();
  said.hidden = true;
  try {
    const answer = await fetch("/sign-in", { method: "POST", headers: { Authorization: `Bearer ${key}` } });
    if (answer.status === 204) { location.href = location.pathname === "/sign-in" ? "/" : location.href; return; }
    said.textContent = signIn.dataset.refused;
  } catch { said.textContent = signIn.dataset.failed; }
  said.hidden = false;
});
