import type { DialectName } from "../src/canon/dialect-name.ts";

/** The dialects for which the tests of all dialects have answers, streams and errors by hand; `responses-wire.ts` has those of the other. */
export const SAMPLED_DIALECTS = ["chat", "messages", "genai"] as const satisfies readonly DialectName[];

export type SampledDialect = (typeof SAMPLED_DIALECTS)[number];

/** All of them, for tests that need no answers by hand but those of `plain-answer.ts`. */
export const EVERY_DIALECT = [...SAMPLED_DIALECTS, "responses"] as const satisfies readonly DialectName[];
