// With the Vercel AI SDK and a model that is scripted, against a real server in HOLDFAST_URL.

import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, stepCountIs, streamText, wrapLanguageModel } from "ai";
import { Holdfast } from "holdfast-client";
import { memoryMiddleware, memoryTools } from "holdfast-client/ai";

const url = process.env.HOLDFAST_URL;
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

async function hubOf(name) {
  const client = new Holdfast({ url });
  await client.hubs.create({ name });
  return client.with({ hub: name });
}

async function streamed(given) {
  const result = streamText(given);
  await result.consumeStream();
  return result.text;
}

/** A model that says these parts, one list for each request, and records what it was asked. */
function model(...answers) {
  const asked = [];
  const next = (params) => {
    asked.push(params);
    const content = answers.shift();
    const calls = content.some((part) => part.type === "tool-call");
    return { content, finishReason: calls ? "tool-calls" : "stop", usage, warnings: [] };
  };
  return {
    asked,
    specificationVersion: "v2",
    provider: "test",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async (params) => next(params),
    doStream: async (params) => {
      const { content, finishReason } = next(params);
      const parts = [{ type: "stream-start", warnings: [] }];
      for (const part of content) {
        if (part.type !== "text") parts.push(part);
        else {
          parts.push({ type: "text-start", id: "1" });
          for (const word of part.text.split(/(?<= )/)) {
            parts.push({ type: "text-delta", id: "1", delta: word });
          }
          parts.push({ type: "text-end", id: "1" });
        }
      }
      parts.push({ type: "finish", finishReason, usage });
      return { stream: ReadableStream.from(parts) };
    },
  };
}

const says = (text) => [{ type: "text", text }];
const calls = (toolName, input) => [
  { type: "tool-call", toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) },
];

test("a model remembers and recalls through the tools", async () => {
  const client = await hubOf("tools");
  const scripted = model(
    calls("remember", { content: "The staging server is called heron", category: "fact" }),
    calls("recall", { query: "What is the staging server called?" }),
    calls("update", { number: 1, content: "The staging server is called egret" }),
    calls("forget", { number: 1 }),
    says("Done."),
  );
  const made = await generateText({
    model: scripted,
    tools: memoryTools(client, { session: "s1" }),
    prompt: "Remember the name of the staging server.",
    stopWhen: stepCountIs(6),
  });
  assert.equal(made.text, "Done.");
  const results = made.steps.flatMap((step) => step.toolResults.map((one) => one.output));
  assert.equal(results[0].result, "stored");
  assert.equal(results[1][0].text, "The staging server is called heron");
  assert.match(results[2].content, /egret/);
  assert.deepEqual(results[3], { number: 1, forgotten: true });
  const memory = await client.memories.find({ reference: "#1" });
  assert.equal(memory.trust, "agent");
  assert.equal(memory.source_agent, "ai-sdk");
  assert.equal(memory.session, "s1");
});

for (const stream of [false, true]) {
  test(`a prompt gets what is remembered, and the turn is logged (stream: ${stream})`, async () => {
    const client = await hubOf(`middleware-${stream}`);
    await client.memories.push({ content: "The staging database runs on port 5544" });
    const scripted = model(
      calls("recall", { query: "staging database port" }),
      says("It is port 5544."),
    );
    const errors = [];
    const middleware = memoryMiddleware(client, { session: "s1", onError: (e) => errors.push(e) });
    const given = {
      model: wrapLanguageModel({ model: scripted, middleware }),
      system: "Be brief.",
      prompt: "Which port does the staging database use?",
      tools: memoryTools(client),
      stopWhen: stepCountIs(3),
    };
    const text = stream ? await streamed(given) : (await generateText(given)).text;
    assert.equal(text, "It is port 5544.");
    assert.deepEqual(errors, []);
    const [first, second] = scripted.asked.map((params) => params.prompt);
    assert.equal(first[0].role, "system");
    assert.match(first[0].content, /^Be brief\.[^]*5544/);
    assert.equal(second[0].content, first[0].content);
    const turns = await client.log.turns({ session: "s1" });
    assert.deepEqual(
      turns.map((turn) => [turn.role, turn.content]).sort(),
      [
        ["assistant", "It is port 5544."],
        ["user", "Which port does the staging database use?"],
      ],
    );
  });
}

test("a server that is gone breaks no call", async () => {
  const errors = [];
  const client = new Holdfast({ url: "http://127.0.0.1:1" });
  const middleware = memoryMiddleware(client, { onError: (error) => errors.push(error.code) });
  const scripted = model(says("Hello."), says("Hello."));
  const wrapped = wrapLanguageModel({ model: scripted, middleware });
  assert.equal((await generateText({ model: wrapped, prompt: "Hi there" })).text, "Hello.");
  assert.equal(await streamed({ model: wrapped, prompt: "Hi again" }), "Hello.");
  assert.deepEqual([...new Set(errors)], ["unreachable"]);
});
