import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { WRAPPED_MARK } from "../../canon/opaque.ts";
import type { SealedOrigins } from "../answer/sealed-origins.ts";
import type { NativeHost } from "../dialect.ts";
import type { ResponsesQuirks } from "./quirks.ts";

/** Gets the tool's name from the type of a history item. */
const CALL_ITEM = /^(.+?)_call(?:_output)?$/;
const TOOL_OF_ITEM: Readonly<Record<string, string>> = { custom_tool: "custom" };

/**
 * Whether only the canon can adapt the request to this provider of the same dialect: it contains reasoning that the provider cannot decrypt
 * (H01), or kinds of tools that it does not support and would reject (R5).
 */
export function needsCanon(
  body: JsonObject,
  { quirks, origin }: NativeHost<ResponsesQuirks>,
  sealed?: SealedOrigins,
): boolean {
  const sealedElsewhere = (value: string): boolean => (sealed?.originOf(value) ?? origin) !== origin;
  return (
    arrayAt(body, "input").some((item) => isForeign(item, quirks, sealedElsewhere)) ||
    arrayAt(body, "tools").some((tool) => !isKnown(stringAt(tool, "type"), quirks))
  );
}

type Asked = (value: string) => boolean;

function isForeign(item: unknown, quirks: ResponsesQuirks, sealedElsewhere: Asked): boolean {
  if (!isObject(item)) return false;
  const type = stringAt(item, "type");
  if (type === "reasoning") return isUnreadable(stringAt(item, "encrypted_content"), quirks, sealedElsewhere);
  const called = type === undefined ? undefined : CALL_ITEM.exec(type)?.[1];
  return called !== undefined && !isKnown(TOOL_OF_ITEM[called] ?? called, quirks);
}

/** Reasoning of another family, or without an encrypted value at a provider that accepts nothing else. */
function isUnreadable(
  sealed: string | undefined,
  { seals, openReasoning }: ResponsesQuirks,
  sealedElsewhere: Asked,
): boolean {
  if (!sealed) return !openReasoning;
  return !seals || sealed.startsWith(WRAPPED_MARK) || sealedElsewhere(sealed);
}

const isKnown = (type: string | undefined, { toolTypes }: ResponsesQuirks): boolean =>
  type === undefined || (toolTypes?.includes(type) ?? true);
