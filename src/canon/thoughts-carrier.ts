import { isObject, type JsonObject, stringAt } from "../base/json.ts";
import { altered, type Opaque, unwrapOpaque, wrapOpaque } from "./opaque.ts";

/** A thought as its maker wants it back. */
export interface Thought {
  text: string;
  signature?: Opaque;
}

/** Signed thoughts in the position of a call's signature, for clients that keep calls and drop thoughts. */
export function thoughtsAsSignature(thoughts: readonly Thought[]): Opaque {
  const held = thoughts.map(({ text, signature }) => ({
    text,
    ...(signature === undefined ? {} : { signature: wrapOpaque(signature) }),
  }));
  return { origin: "", kind: "thoughts", value: JSON.stringify(held) };
}

/** The thoughts inside, one of them where an unsigned one stands for itself; undefined where the value is something else. */
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
