import type { LanguageModelMiddleware, Tool } from "ai";
import type { Holdfast } from "./index.js";

export interface MemoryToolOptions {
  /** The hub that is meant, by name or id. */
  hub?: string;
  /** The name of the conversation, kept with what is remembered. */
  session?: string;
}

export interface FoundMemory {
  number: number;
  text: string;
  said: string;
  category: string;
}

/** Tools for `generateText` and `streamText`: recall, remember, update and forget. */
export function memoryTools(
  client: Holdfast,
  options?: MemoryToolOptions,
): {
  recall: Tool<{ query: string }, FoundMemory[]>;
  remember: Tool<{ content: string; category?: string }, Record<string, unknown>>;
  update: Tool<{ number: number; content: string }, { number: number; content: string }>;
  forget: Tool<{ number: number }, { number: number; forgotten: boolean }>;
};

export interface MemoryMiddlewareOptions extends MemoryToolOptions {
  /** The largest block, in characters; 6000. */
  budget?: number;
  /** Whether what is remembered is added to prompts. */
  inject?: boolean;
  /** Whether turns are shown to memory. */
  capture?: boolean;
  /** Gets what went wrong with memory; the call goes on without it. */
  onError?: (error: unknown) => void;
}

/** A middleware for `wrapLanguageModel`: adds what is remembered, and shows turns to memory. */
export function memoryMiddleware(
  client: Holdfast,
  options?: MemoryMiddlewareOptions,
): LanguageModelMiddleware;
