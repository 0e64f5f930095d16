import type { CheckedText } from "./checked-text.ts";
import { FREE } from "./json-document.ts";

/** A word of a protocol. Anything else in a path was written by a client or a model, and may be what the guard looks for. */
const OF_PROTOCOL = /^[A-Za-z_]{1,24}$/;

/** The most paths of one verdict. */
export const MOST_PLACES = 5;

/** The path of a text as far as it consists of words of a protocol; empty if none of it does. */
export function placeOf({ path, kind }: Pick<CheckedText, "path" | "kind">): string {
  const steps = path.split(".");
  // A key is the last step of its own path.
  if (kind === "key") steps.pop();
  const left: string[] = [];
  for (const step of steps) {
    const [name = ""] = step.split("[");
    if (!OF_PROTOCOL.test(name)) break;
    left.push(step);
    const isTurns = name === "input" && step !== name;
    if ((FREE.has(name) && !isTurns) || (name === "response" && left.at(-2) === "functionResponse")) break;
  }
  return left.join(".");
}
