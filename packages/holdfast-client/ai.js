// Memory for the Vercel AI SDK: tools that a model calls, and a middleware that adds what is
// remembered to each prompt and shows each turn to memory.

import { jsonSchema, tool } from "ai";

const AGENT = "ai-sdk";
const BUDGET_CHARS = 6_000;
const HITS_MAX = 8;

const text = (description) => ({ type: "string", description });
const NUMBER = { type: "integer", description: "The number of the memory, as in #12.", minimum: 1 };

const object = (properties, required) =>
  jsonSchema({ type: "object", properties, required, additionalProperties: false });

/** Tools for `generateText` and `streamText`: recall, remember, update and forget. */
export function memoryTools(client, { hub, session } = {}) {
  const options = { hub };
  return {
    recall: tool({
      description: "Search long-term memory. Call it before you say that you do not know.",
      inputSchema: object({ query: text("What to look for, in plain words.") }, ["query"]),
      execute: async ({ query }) => {
        const found = await client.recall({ query, limit: HITS_MAX }, options);
        return found.data.map((hit) => ({
          number: hit.memory.number,
          text: hit.passage.text,
          said: (hit.memory.occurred_at ?? hit.memory.created_at).slice(0, 10),
          category: hit.memory.category,
        }));
      },
    }),
    remember: tool({
      description:
        "Keep one fact, preference or decision for later conversations, as a full sentence. Not for secrets.",
      inputSchema: object(
        {
          content: text("The sentence to remember."),
          category: text("preference, fact, project, person, routine, decision, or another word."),
        },
        ["content"],
      ),
      execute: async ({ content, category }) => {
        // What the block for the prompt said is not remembered again.
        const heard = await client.heard({ text: content }, options);
        if (!heard.text.trim()) {
          return { result: "known", numbers: heard.memories.map((one) => one.number) };
        }
        const made = await client.memories.push(
          { content: heard.text, category, session, trust: "agent", source_agent: AGENT },
          options,
        );
        return { number: made.data.number, result: made.result };
      },
    }),
    update: tool({
      description: "Correct a memory that is wrong or out of date.",
      inputSchema: object({ number: NUMBER, content: text("What it says now.") }, [
        "number",
        "content",
      ]),
      execute: async ({ number, content }) => {
        const memory = await client.memories.find({ reference: `#${number}` }, options);
        const reason = "the agent corrected it";
        const made = await client.memories.patch(memory.id, { content, reason }, options);
        return { number: made.number, content: made.content };
      },
    }),
    forget: tool({
      description: "Forget a memory because the person asks for it. It can be restored.",
      inputSchema: object({ number: NUMBER }, ["number"]),
      execute: async ({ number }) => {
        const memory = await client.memories.find({ reference: `#${number}` }, options);
        const gone = await client.memories.forget(memory.id, { reason: "asked for" }, options);
        return { number: gone.number, forgotten: true };
      },
    }),
  };
}

/**
 * A middleware for `wrapLanguageModel`. Memory never breaks a call: what goes wrong is handed to
 * `onError`.
 */
export function memoryMiddleware(client, given = {}) {
  const { hub, session, budget = BUDGET_CHARS, inject = true, capture = true, onError } = given;
  const options = { hub };
  // The block of the last prompt: the steps of one turn, with tools in between, share it.
  let last = { prompt: undefined, block: "" };

  const attempt = async (work, otherwise) => {
    try {
      return await work();
    } catch (error) {
      onError?.(error);
      return otherwise;
    }
  };
  const observe = async (params, said, isFinal) => {
    const user = lastOf(params.prompt);
    if (!capture || !isFinal || !user) return;
    const turn = { user, assistant: said, session, source: AGENT };
    await attempt(() => client.observeTurn(turn, options));
  };

  return {
    transformParams: async ({ params }) => {
      const prompt = lastOf(params.prompt);
      if (!inject || !prompt) return params;
      if (last.prompt !== prompt) {
        const query = prompt.slice(0, 2_000);
        const made = await attempt(() => client.context({ query, budget }, options), undefined);
        if (made === undefined) return params;
        last = { prompt, block: made.text };
      }
      return last.block ? { ...params, prompt: withSystem(params.prompt, last.block) } : params;
    },

    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      const parts = result.content ?? [];
      const said = parts.filter((part) => part.type === "text").map((part) => part.text);
      await observe(params, said.join(""), !parts.some((part) => part.type === "tool-call"));
      return result;
    },

    wrapStream: async ({ doStream, params }) => {
      const result = await doStream();
      let said = "";
      let calls = false;
      let ended = false;
      const watch = new TransformStream({
        transform(part, controller) {
          if (part.type === "text-delta") said += part.delta ?? "";
          if (part.type === "tool-call") calls = true;
          if (part.type === "finish") ended = true;
          controller.enqueue(part);
        },
        flush: () => observe(params, said, ended && !calls),
      });
      return { ...result, stream: result.stream.pipeThrough(watch) };
    },
  };
}

/** The text of the person's last message. */
function lastOf(prompt) {
  const message = [...prompt].reverse().find((one) => one.role === "user");
  const parts = Array.isArray(message?.content) ? message.content : [];
  return parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n\n")
    .trim();
}

function withSystem(prompt, block) {
  const [first, ...rest] = prompt;
  if (first?.role === "system") {
    return [{ ...first, content: `${first.content}\n\n${block}` }, ...rest];
  }
  return [{ role: "system", content: block }, ...prompt];
}
