import type { DialectName } from "../src/canon/dialect-name.ts";

/** The dialects for which the tests of all dialects have answers, streams and errors by hand; `wires/responses-wire.ts` has those of the other. */
export const SAMPLED_DIALECTS = ["chat", "messages", "genai"] as const satisfies readonly DialectName[];

export type SampledDialect = (typeof SAMPLED_DIALECTS)[number];

/** Those with scripts of whole conversations. `interactions` has tests of its own, and takes part where no script is needed. */
export const SCRIPTED_DIALECTS = [...SAMPLED_DIALECTS, "responses"] as const satisfies readonly DialectName[];

export type ScriptedDialect = (typeof SCRIPTED_DIALECTS)[number];

/** The same and the one that only hosts speak. */
export type ScriptedHost = ScriptedDialect | "converse";
