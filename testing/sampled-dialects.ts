import type { DialectName } from "../src/canon/dialect-name.ts";

/** The dialects for which the tests of all dialects have answers, streams and errors by hand; `conformance/responses` has those of the other. */
export const SAMPLED_DIALECTS = ["chat", "messages", "genai"] as const satisfies readonly DialectName[];

export type SampledDialect = (typeof SAMPLED_DIALECTS)[number];
