// Holdfast: long-term memory in opencode. Written by `holdfast setup opencode`, and taken out by
// `holdfast teardown opencode`. Each hook runs Holdfast's own program with an event in JSON; where
// that fails, the session goes on without it.
import { spawn } from "node:child_process"

const COMMAND = __COMMAND__

const hook = (event, body) =>
  new Promise((resolve) => {
    let out = ""
    try {
      const run = spawn(COMMAND[0], [...COMMAND.slice(1), event, "--client", "opencode"], {
        stdio: ["pipe", "pipe", "ignore"],
        cwd: body.cwd,
      })
      run.on("error", () => resolve(""))
      run.stdout.on("data", (part) => (out += part))
      run.on("close", () => {
        try {
          resolve(JSON.parse(out).hookSpecificOutput.additionalContext || "")
        } catch {
          resolve("")
        }
      })
      run.stdin.on("error", () => {})
      run.stdin.end(JSON.stringify({ ...body, hook_event_name: event }))
    } catch {
      resolve("")
    }
  })

const textOf = (parts) =>
  (parts || [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n\n")

export const HoldfastMemory = async ({ client, directory }) => {
  // What each session was given: the block of its start, and what its prompts needed.
  const given = new Map()
  const body = (session, more) => ({ session_id: session, cwd: directory, ...more })
  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const blocks = given.get(session) || []
      if (!given.has(session)) blocks.push(await hook("SessionStart", body(session, { source: "startup" })))
      const prompt = textOf(output.parts)
      blocks.push(await hook("UserPromptSubmit", body(session, { prompt, turn_id: output.message.id })))
      given.set(session, blocks.filter(Boolean))
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const block of given.get(input.sessionID) || []) output.system.push(block)
    },
    "experimental.session.compacting": async (input) => {
      await hook("PreCompact", body(input.sessionID, { trigger: "auto" }))
    },
    event: async ({ event }) => {
      if (event.type === "session.deleted") given.delete(event.properties.info?.id)
      if (event.type !== "session.idle") return
      const session = event.properties.sessionID
      try {
        const found = await client.session.messages({ path: { id: session } })
        const messages = found.data || []
        const last = messages.findLast((one) => one.info.role === "user")
        if (!last) return
        const answers = messages.filter((one) => one.info.role === "assistant" && one.info.parentID === last.info.id)
        const answer = answers.map((one) => textOf(one.parts)).filter(Boolean).join("\n\n")
        await hook("Stop", body(session, { turn_id: last.info.id, prompt: textOf(last.parts), last_assistant_message: answer }))
      } catch {}
    },
  }
}
