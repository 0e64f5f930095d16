/** Protocols that clients can use. The gateway uses them towards providers, too. */
export const DIALECT_NAMES = ["chat", "messages", "genai", "responses", "interactions"] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

/** Protocols that the gateway uses towards providers. */
export const UPSTREAM_DIALECT_NAMES = [...DIALECT_NAMES, "converse"] as const;

export type UpstreamDialectName = (typeof UPSTREAM_DIALECT_NAMES)[number];
