// Compiled, never run: the types say what the server's description says.

import { generateText, wrapLanguageModel, type LanguageModel } from "ai";
import { Holdfast, HoldfastError, type MemoryOut } from "holdfast-client";
import { memoryMiddleware, memoryTools } from "holdfast-client/ai";

const client = new Holdfast({ url: "http://127.0.0.1:4653", hub: "work" });

export async function all(model: Exclude<LanguageModel, string>): Promise<MemoryOut[]> {
  const made = await client.memories.push({ content: "x", tags: ["a"] }, { idempotencyKey: "1" });
  const id: string = made.data.id;
  const found = await client.recall({ query: "x", limit: 3 });
  const texts: string[] = found.data.map((hit) => hit.passage.text);
  const page = await client.memories.list({ limit: 2, tag: texts });
  const next: string | null = page.next_cursor;
  // @ts-expect-error  a question needs a query
  await client.recall({ limit: 3 });
  // @ts-expect-error  there is no such field
  await client.memories.patch(id, { colour: "red" });
  // @ts-expect-error  there is no such operation
  await client.memories.explode(id);
  await generateText({
    model: wrapLanguageModel({
      model: model as never,
      middleware: memoryMiddleware(client, { session: next ?? "s1" }),
    }),
    tools: memoryTools(client),
    prompt: "Hello",
  });
  if (new Error() instanceof HoldfastError) return [];
  return page.data;
}
