import { isObject, type JsonObject, stringAt } from "../base/json.ts";
import { altered, type Opaque, unwrapOpaque, wrapOpaque } from "./opaque.ts";

/** A thought in the form its provider expects back. */
export interface Thought {
  text: string;
  signature?: Opaque;
}

/** Carries signed thoughts in a call's signature, for clients that keep calls but drop thoughts. */
export function thoughtsAsSignature(thoughts: readonly Thought[]): Opaque {
  const held = thoughts.map(({ text, signature }) => ({
    text,
    ...(signature === undefined ? {} : { signature: wrapOpaque(signature) }),
  }));
  return { origin: "", kind: "thoughts", value: JSON.stringify(held) };
}

/** The carried thoughts, or undefined if the value is something else. An unsigned thought is carried as itself. */
export function readThoughts({ kind, value }: Opaque): Thought[] | undefined {
  if (kind === "text") return [{ text: value }];
  if (kind !== "thoughts") return undefined;
  return readHeld(value).map((thought) => {
    const signature = unwrapOpaque(stringAt(thought, "signature") ?? "");
    return { text: stringAt(thought, "text") ?? "", ...(signature === undefined ? {} : { signature }) };
  });
}

function readHeld(value: string): JsonObject[] {
  try {
    const held: unknown = JSON.parse(value);
    if (Array.isArray(held) && held.every(isObject)) return held;
  } catch (cause) {
    throw altered(cause);
  }
  throw altered();
}
