import { isObject, type JsonObject, parseObject, stringAt } from "../base/json.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { UPSTREAM_DIALECT_NAMES } from "./dialect-name.ts";
import { altered, type Opaque, unwrapOpaque, wrapOpaque } from "./opaque.ts";
import type { NativePart } from "./part.ts";

/**
 * Wraps a block that exists only in its own dialect, such as code the provider ran, as an opaque value. Clients of other protocols cannot
 * show it, but can return it to its provider.
 */
export function carryNative({ dialect, name, raw, signature }: NativePart): Opaque {
  const value = JSON.stringify({ name, raw, ...withoutAbsent({ signature }) });
  return { origin: dialect, kind: "native", value };
}

/** The wrapped block, or undefined if the value does not carry one. `parse` can preserve the order of keys and the spelling of numbers. */
export function nativeOf({ origin, kind, value }: Opaque, parse?: (text: string) => unknown): NativePart | undefined {
  const dialect = UPSTREAM_DIALECT_NAMES.find((name) => name === origin);
  const held = kind === "native" && dialect !== undefined ? parseObject(value, parse) : undefined;
  const raw = held?.["raw"];
  if (held === undefined || dialect === undefined || !isObject(raw)) return undefined;
  const signature = held["signature"];
  return {
    type: "native",
    dialect,
    name: stringAt(held, "name") ?? "",
    raw,
    ...(isObject(signature) ? { signature: signature as unknown as Opaque } : {}),
  };
}

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
    return { text: stringAt(thought, "text") ?? "", ...withoutAbsent({ signature }) };
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
