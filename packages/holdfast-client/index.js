// A client of a Holdfast server. It needs nothing but `fetch`: Node 20, Deno, Bun, workers. The
// operations are rows of `operations.js`, which is made from the server's own description.

import { operations } from "./operations.js";

const URL_DEFAULT = "http://127.0.0.1:4653";
const TIMEOUT_MS = 30_000;

export class HoldfastError extends Error {
  constructor(status, { code = "unknown", message = "", hint = "", details = null } = {}, cause) {
    super(message || `The server answered with ${status}.`, cause === undefined ? {} : { cause });
    this.name = "HoldfastError";
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}

export class Holdfast {
  #options;

  constructor(options = {}) {
    this.#options = { ...options, url: (options.url ?? URL_DEFAULT).replace(/\/+$/, "") };
    for (const [name, operation] of Object.entries(operations)) {
      const [method, group] = name.split(".").reverse();
      const place = group === undefined ? this : (this[group] ??= {});
      place[method] = (...given) => this.#call(operation, given);
    }
  }

  with(options) {
    return new Holdfast({ ...this.#options, ...options });
  }

  async #call(operation, given) {
    const rest = [...given];
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => segment(name, rest.shift()));
    const sent = operation.sends === "nothing" ? undefined : rest.shift();
    const options = rest.shift() ?? {};
    const address = new URL(this.#options.url + path);
    if (operation.sends === "query") addQuery(address, sent ?? {});
    const response = await this.#fetch(address, operation, sent, options);
    if (!response.ok) throw await refusal(response);
    if (operation.returns === "response") return response;
    const answer = await response.json();
    return operation.returns === "data" ? answer.data : answer;
  }

  async #fetch(address, operation, sent, options) {
    const headers = { Accept: "application/json", "X-Holdfast-Client": "holdfast-client-js" };
    const { key, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = this.#options;
    const hub = options.hub ?? this.#options.hub;
    if (key) headers.Authorization = `Bearer ${key}`;
    // A header holds the letters of Latin-1 alone.
    if (hub) headers["X-Hub-ID"] = encodeURIComponent(hub);
    if (options.idempotencyKey) headers["Idempotency-Key"] = options.idempotencyKey;
    if (options.ifMatch) headers["If-Match"] = options.ifMatch;
    // A stream stays open for as long as its reader wants.
    const signals = operation.returns === "response" ? [] : [AbortSignal.timeout(timeoutMs)];
    if (options.signal) signals.push(options.signal);
    const init = { method: operation.method, redirect: "error" };
    if (signals.length) init.signal = AbortSignal.any(signals);
    if (operation.sends === "form") {
      init.body = sent;
    } else if (operation.sends === "body") {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(sent ?? {});
    }
    // Tried here, so that a value that no header can have is an error of its own.
    new Headers(headers);
    init.headers = headers;
    try {
      return await fetch(address, init);
    } catch (cause) {
      if (options.signal?.aborted) throw cause;
      const message = `The server at ${this.#options.url} does not answer.`;
      const hint = "Start it with `holdfast serve`, or name another with `url`.";
      throw new HoldfastError(0, { code: "unreachable", message, hint }, cause);
    }
  }
}

function segment(name, value) {
  // `.` and `..` would be taken out of the address, whatever they are escaped as.
  if (value === undefined || value === null || /^\.{0,2}$/.test(String(value))) {
    throw new TypeError(`${name} is missing.`);
  }
  return encodeURIComponent(String(value));
}

function addQuery(address, query) {
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) address.searchParams.append(name, asText(one));
    }
  }
}

// `where` may be an object, which the server reads as JSON.
function asText(value) {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

async function refusal(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // Something between here and the server has answered.
  }
  return new HoldfastError(response.status, error);
}
