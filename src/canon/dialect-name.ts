/** The wire languages that the gateway speaks on its doorstep; it speaks them towards providers too. */
export const DIALECT_NAMES = ["chat", "messages", "genai", "responses"] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

/** The wire languages that the gateway speaks towards providers. */
export const UPSTREAM_DIALECT_NAMES = [...DIALECT_NAMES, "converse"] as const;

export type UpstreamDialectName = (typeof UPSTREAM_DIALECT_NAMES)[number];
