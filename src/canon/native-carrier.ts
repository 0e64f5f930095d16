import { isObject, parseObject, stringAt } from "../base/json.ts";
import { UPSTREAM_DIALECT_NAMES } from "./dialect-name.ts";
import type { Opaque } from "./opaque.ts";
import type { NativePart } from "./part.ts";

/**
 * A block that only its own dialect knows, such as code that the provider ran, as an opaque value: clients of another
 * protocol cannot show it, but they can send it back, and its maker wants it whole.
 */
export function carryNative({ dialect, name, raw, signature }: NativePart): Opaque {
  const value = JSON.stringify({ name, raw, ...(signature === undefined ? {} : { signature }) });
  return { origin: dialect, kind: "native", value };
}

/** The block inside; undefined where the value is not one. `parse`: one that keeps keys and numbers as they are written. */
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
