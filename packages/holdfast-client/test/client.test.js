// Against a real server, whose address is in HOLDFAST_URL.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { Holdfast, HoldfastError } from "holdfast-client";

const url = process.env.HOLDFAST_URL;
const client = new Holdfast({ url });

test("a memory is pushed, found, changed, forgotten and restored", async () => {
  const made = await client.memories.push({ content: "The staging database runs on port 5544" });
  assert.equal(made.result, "stored");
  const found = await client.recall({ query: "Which port does the staging database use?" });
  assert.equal(found.data[0].memory.id, made.data.id);
  assert.ok(found.confidence > 0);
  const changed = await client.memories.patch(made.data.id, { pinned: true });
  assert.equal(changed.pinned, true);
  assert.match((await client.context()).text, /5544/);
  await client.memories.forget(made.data.id, { reason: "a test" });
  await assert.rejects(client.memories.get(made.data.id), { status: 404, code: "not_found" });
  await client.memories.restore(made.data.id);
  const history = await client.memories.history(made.data.id);
  assert.ok(history.length >= 4);
});

test("lists come in pages, and a query may have lists and numbers", async () => {
  const hub = client.with({ hub: "pages" });
  await client.hubs.create({ name: "pages" });
  const items = [1, 2, 3].map((n) => ({ content: `Note ${n} of the list`, tags: ["a", "b"] }));
  assert.equal((await hub.memories.pushMany({ items })).length, 3);
  const first = await hub.memories.list({ limit: 2, tag: ["a", "b"], pinned: false });
  assert.equal(first.data.length, 2);
  const second = await hub.memories.list({ limit: 2, cursor: first.next_cursor });
  assert.equal(second.data.length, 1);
  assert.equal(second.next_cursor, null);
  assert.equal((await hub.thisHub()).data.name, "pages");
});

test("a condition is text or an object, in a body and in an address", async () => {
  const hub = client.with({ hub: "conditions" });
  await client.hubs.create({ name: "conditions" });
  await hub.memories.push({ content: "The deploy needs a review", metadata: { priority: 3 } });
  await hub.memories.push({ content: "The web shop is automatic", metadata: { priority: 1 } });
  for (const where of ["priority > 2", { priority: { $gt: 2 } }]) {
    assert.equal((await hub.memories.list({ where })).data.length, 1);
    assert.equal((await hub.recall({ query: "deploy review", where })).data.length, 1);
  }
  const since = new Date("2000-01-01");
  assert.equal((await hub.memories.list({ since })).data.length, 2);
});

test("a write with a key of its own is done once", async () => {
  const options = { hub: "once", idempotencyKey: "one" };
  await client.hubs.create({ name: "once" });
  const turn = { user: "I live in Porto.", assistant: "Noted.", session: "s1" };
  const first = await client.observeTurn(turn, options);
  const again = await client.observeTurn(turn, options);
  assert.deepEqual(again.turns[0].id, first.turns[0].id);
  assert.equal((await client.log.turns({}, { hub: "once" })).length, 2);
});

test("an upload and an export are streams of bytes", async () => {
  const form = new FormData();
  form.append("file", new Blob(["The lighthouse is 40 metres high"]), "note.txt");
  const made = await client.memories.upload(form);
  assert.ok(made.data.id);
  const lines = (await (await client.export()).text()).trim().split("\n");
  assert.ok(lines.length > 1 && lines.every((line) => JSON.parse(line)));
});

test("a refusal is an error with its code and what to do", async () => {
  await assert.rejects(client.memories.push({ colour: "red" }), (error) => {
    assert.ok(error instanceof HoldfastError);
    assert.equal(error.status, 400);
    assert.ok(error.code && error.message);
    return true;
  });
  await assert.rejects(client.with({ hub: "nowhere" }).memories.list(), { status: 404 });
  const nobody = new Holdfast({ url: "http://127.0.0.1:1" });
  await assert.rejects(nobody.topics(), { status: 0, code: "unreachable" });
});

test("a hub may have a name in any script", async () => {
  for (const name of ["café", "日本"]) {
    await client.hubs.create({ name });
    const hub = client.with({ hub: name });
    await hub.memories.push({ content: `A note in ${name}` });
    assert.equal((await hub.thisHub()).data.name, name);
    assert.equal((await hub.memories.list()).data.length, 1);
  }
});

test("what cannot be sent in a header is not called a server that is away", async () => {
  await assert.rejects(client.memories.list({}, { idempotencyKey: "日本" }), TypeError);
  await assert.rejects(new Holdfast({ url, key: "a\nb" }).memories.list(), TypeError);
});

test("an id cannot lead to another address", async () => {
  const asked = [];
  const fetch = async (address) => (asked.push(address.pathname), Response.json({ data: {} }));
  const watched = new Holdfast({ url, fetch });
  await watched.memories.get("a/../../keys?x#y");
  assert.deepEqual(asked, ["/v1/memories/a%2F..%2F..%2Fkeys%3Fx%23y"]);
  for (const wrong of ["", ".", "..", undefined, null]) {
    await assert.rejects(async () => watched.memories.get(wrong), TypeError);
  }
});

test("a request ends when its time is over or when it is called off", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address();
  const slow = new Holdfast({ url: `http://127.0.0.1:${port}`, timeoutMs: 50 });
  await assert.rejects(slow.topics(), { code: "unreachable" });
  silent.closeAllConnections();
  silent.close();
  const signal = AbortSignal.abort();
  const patient = new Holdfast({ url, fetch: (_, init) => (init.signal.throwIfAborted(), null) });
  await assert.rejects(patient.topics({ signal }), { name: "AbortError" });
});

test("the key is sent and is not in what is shown of a client", async () => {
  let sent;
  const fetch = async (_, init) => ((sent = init), Response.json({ data: [] }));
  const keyed = new Holdfast({ url, key: "hf_secret", hub: "work", fetch });
  await keyed.topics();
  assert.equal(sent.headers.Authorization, "Bearer hf_secret");
  assert.equal(sent.headers["X-Hub-ID"], "work");
  assert.equal(sent.redirect, "error");
  assert.ok(!JSON.stringify(keyed).includes("hf_secret"));
});
