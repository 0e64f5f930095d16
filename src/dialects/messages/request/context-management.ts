import { arrayAt, isObject, type JsonObject, numberAt, objectAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall, Extra } from "../../../canon/call.ts";

export const CONTEXT_MANAGEMENT = "context_management";

/** The beta that hosts require for compaction. */
export const COMPACTION_BETA = "compact-2026-01-12";

const COMPACT = "compact_20260112";

/** Hosts reject a lower one. https://platform.claude.com/docs/en/build-with-claude/compaction */
const LEAST_TOKENS = 50_000;

/** Settings of the edit that other dialects do not have. */
const OWN = ["instructions", "pause_after_compaction"] as const;

interface Managed {
  compaction?: NonNullable<CanonCall["compaction"]>;
  crosses?: NonNullable<Extra["crosses"]>;
}

/** Of the edits, other dialects have only compaction. */
export function decodeContextManagement(body: JsonObject): Managed {
  const edits = arrayAt(objectAt(body, CONTEXT_MANAGEMENT), "edits");
  const at = edits.findIndex((edit) => isObject(edit) && String(edit["type"]).startsWith("compact_"));
  const edit = edits[at];
  if (!isObject(edit)) return {};
  const path = (index: number) => `${CONTEXT_MANAGEMENT}.edits[${index}]`;
  const own = OWN.filter((name) => edit[name] !== undefined && edit[name] !== null && edit[name] !== false);
  const without = edits.flatMap((_edit, index) =>
    index === at ? own.map((name) => `${path(index)}.${name}`) : [path(index)],
  );
  const afterTokens = numberAt(objectAt(edit, "trigger"), "value");
  return { compaction: withoutAbsent({ afterTokens }), crosses: { as: "compaction", without } };
}

export function encodeCompaction({ afterTokens }: NonNullable<CanonCall["compaction"]>): JsonObject {
  const value = afterTokens === undefined ? undefined : Math.max(LEAST_TOKENS, afterTokens);
  const trigger = value === undefined ? {} : { trigger: { type: "input_tokens", value } };
  return { edits: [{ type: COMPACT, ...trigger }] };
}

/** Whether a target gets a higher threshold than requested. */
export const raisesThreshold = ({ afterTokens = LEAST_TOKENS }: NonNullable<CanonCall["compaction"]>): boolean =>
  afterTokens < LEAST_TOKENS;
