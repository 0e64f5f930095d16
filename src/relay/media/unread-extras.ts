import type { FieldNote } from "../../canon/receipt.ts";
import type { ImageCall } from "../../media/image-call.ts";

/**
 * The client's extra fields that an adapter does not read. Adapters are pure, so this builds a request and records which fields are
 * read. No list could go stale (H09).
 */
export function unreadExtras<Call extends Pick<ImageCall, "extras" | "extraPaths">>(
  call: Call,
  submit: (call: Call) => unknown,
): FieldNote[] {
  const names = Object.keys(call.extras);
  if (names.length === 0) return [];
  const read = new Set<PropertyKey>();
  const extras = new Proxy(call.extras, {
    get: (target, name) => {
      read.add(name);
      return Reflect.get(target, name) as unknown;
    },
  });
  submit({ ...call, extras });
  const reason = "this model's provider does not support this field";
  return names
    .filter((name) => !read.has(name))
    .map((name): FieldNote => ({ path: call.extraPaths?.get(name) ?? name, action: "dropped", reason }));
}
