import { arrayAt, isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { wrapOpaque } from "../../../canon/opaque.ts";
import type { SealedOrigins } from "../../answer/sealed-origins.ts";
import { decodeSealed, OWN_ORIGIN } from "../request/reasoning.ts";

type Known = Pick<SealedOrigins, "originOf">;

/** Records who encrypted the values in these items, to look it up later. */
export function learnSealed(items: readonly unknown[], origin: string, sealed: SealedOrigins | undefined): void {
  if (sealed === undefined) return;
  for (const item of items) {
    const value = stringAt(item, "type") === "reasoning" ? stringAt(item, "encrypted_content") : undefined;
    if (value) sealed.learn(value, origin);
  }
}

/** Plain values do not show who encrypted them. Values of providers other than the vendor's are marked before they are read. */
export function markSealed(body: JsonObject, known: Known): JsonObject {
  const input = arrayAt(body, "input");
  const marked = input.map((item) => (isObject(item) ? markItem(item, known) : item));
  return marked.every((item, at) => item === input[at]) ? body : { ...body, input: marked };
}

function markItem(item: JsonObject, known: Known): JsonObject {
  const value = stringAt(item, "type") === "reasoning" ? stringAt(item, "encrypted_content") : undefined;
  const origin = value ? known.originOf(value) : undefined;
  if (origin === undefined || origin === OWN_ORIGIN) return item;
  const sealed = decodeSealed(item, { origin, fromClient: false });
  return sealed === undefined ? item : { ...item, encrypted_content: wrapOpaque(sealed) };
}
