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

/** Text that a client adds to a user's turn, such as a coding agent's reminders about its tools. */
const ADDED_BY_CLIENT = /<([a-z][\w-]*)>[\s\S]*?<\/\1>/gi;

/** How far from a request to call something its name may be, in characters. */
const REACH = 80;

/**
 * Whether the text asks for this tool. A name such as get_weather is meant wherever it occurs; one that is an ordinary word,
 * such as Read or Task, only after a verb: "use Read".
 */
function isAskedFor(text: string, name: string): boolean {
  const lower = text.toLowerCase();
  const wanted = name.toLowerCase();
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const around = `${lower[at - 1] ?? " "}${lower[at + wanted.length] ?? " "}`;
    if (/[\p{L}\p{N}_]/u.test(around)) continue;
    if (/[_\d-]|[a-z][A-Z]/.test(name)) return true;
    if (/\b(?:use|call|run|invoke|with)\b[^.?!\n]*$/.test(lower.slice(Math.max(0, at - REACH), at))) return true;
  }
  return false;
}

/** Tools that change something outside the conversation, by the names that coding agents give them. */
const WRITING =
  /^(?:bash|shell|local_shell|terminal|computer|exec(?:ute)?(?:_.*)?|run_(?:shell_)?command|(?:multi_?|notebook_?)?edit(?:_.*)?|write(?:_.*)?|replace(?:_.*)?|str_replace.*|apply_?(?:patch|diff)|(?:create|delete|remove|move|rename)_.*|kill_?.*|save_.*|todo_?write)$/i;

/** Which tools to call, one entry for each call. */
function chooseTools(prompt: Prompt, insist: boolean): Tool[] {
  const last = prompt.turns.at(-1);
  const afterResults = last?.parts.some((part) => part.type === "result") ?? false;
  if (prompt.choice.mode === "none" || last?.role !== "user" || afterResults) return [];
  const allowed = prompt.choice.names;
  const tools = allowed === undefined ? prompt.tools : prompt.tools.filter((tool) => allowed.includes(tool.name));
  const text = textOf(last).replace(ADDED_BY_CLIENT, " ");
  const forced = insist || prompt.choice.mode === "required";
  // A simulator guesses its arguments: it must not run a command or change a file by a guess.
  const callable = forced ? tools : tools.filter((tool) => !WRITING.test(tool.name));
  const named = callable.filter((tool) => isAskedFor(text, tool.name));
  if (!forced && named.length === 0 && !/\buse (?:the |your )?tools?\b/i.test(text)) return [];
  const several = insist || /\bparallel\b/i.test(text);
  const chosen = named.length > 0 ? named : callable.slice(0, several ? 2 : 1);
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
