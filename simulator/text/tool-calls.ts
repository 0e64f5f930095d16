import type { Json, JsonObject } from "../json.ts";
import type { Seed } from "../seed.ts";
import type { Segment } from "./plan.ts";
import { type Prompt, type Tool, textOf } from "./prompt.ts";
import { schemaInstance } from "./schema-instance.ts";

const MAX_CALLS = 8;

/** Words that ask for a call rather than say what it is about. */
const ASKING = /^(?:use|call|run|the|and|for|with|tools?|please|parallel|now|your)$/i;

/** Words of the prompt that make passable arguments: names first, since arguments are mostly names. */
export function wordsOf(text: string): string[] {
  const found = text.match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  const words = [...new Set(found)].filter((word) => !ASKING.test(word) && !word.includes("_")).slice(0, 200);
  const names = words.filter((word, at) => at > 0 && /^\p{Lu}/u.test(word));
  return names.length > 0 ? names : words;
}

function mentions(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  if (at < 0) return false;
  const around = `${text[at - 1] ?? " "}${text[at + name.length] ?? " "}`;
  return !/[\p{L}\p{N}_]/u.test(around);
}

/** Which tools to call, one entry for each call. */
function chooseTools(prompt: Prompt, insist: boolean): Tool[] {
  const last = prompt.turns.at(-1);
  const afterResults = last?.parts.some((part) => part.type === "result") ?? false;
  if (prompt.choice.mode === "none" || last?.role !== "user" || afterResults) return [];
  const allowed = prompt.choice.names;
  const tools = allowed === undefined ? prompt.tools : prompt.tools.filter((tool) => allowed.includes(tool.name));
  const text = textOf(last);
  const mentioned = tools.filter((tool) => mentions(text, tool.name));
  const forced = insist || prompt.choice.mode === "required";
  if (!forced && mentioned.length === 0 && !/\buse (?:the |your )?tools?\b/i.test(text)) return [];
  const several = insist || /\bparallel\b/i.test(text);
  const chosen = mentioned.length > 0 ? mentioned : tools.slice(0, several ? 2 : 1);
  // Asked for parallel calls of one function: two calls of it, which must stay two.
  const first = chosen[0];
  const wanted = several && chosen.length === 1 && first !== undefined ? [first, first] : chosen;
  return wanted.slice(0, prompt.parallel ? MAX_CALLS : 1);
}

export function inputFor(tool: Tool, seed: Seed, words: readonly string[]): Json {
  if (tool.freeform) return words.slice(0, 8).join(" ") || "example";
  const schema: JsonObject = tool.schema ?? {};
  const typed = schema.type === undefined && schema.$ref === undefined ? { type: "object", ...schema } : schema;
  return schemaInstance(typed, seed, words);
}

/** The calls that the request asks for; none when it asks for none. `insist` calls tools independent of the text. */
export function planCalls(prompt: Prompt, seed: Seed, insist: boolean): (Segment & { type: "call" })[] {
  const words = wordsOf(textOf(prompt.turns.at(-1)));
  return chooseTools(prompt, insist).map((tool, ordinal) => ({
    type: "call",
    ordinal,
    name: tool.name,
    input: inputFor(tool, seed.derive(`call ${ordinal}`), words),
    freeform: tool.freeform,
  }));
}
