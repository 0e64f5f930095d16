/** Protocols that clients can use. The gateway uses them towards providers, too. */
export const DIALECT_NAMES = ["chat", "messages", "genai", "responses", "interactions"] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

/** Protocols of live connections, on both sides. */
export const LIVE_DIALECT_NAMES = ["realtime", "live"] as const;

export type LiveDialectName = (typeof LIVE_DIALECT_NAMES)[number];

/** Everything that a client can speak, as keys and receipts name it. */
export const PROTOCOL_NAMES = [...DIALECT_NAMES, ...LIVE_DIALECT_NAMES] as const;

export type ProtocolName = (typeof PROTOCOL_NAMES)[number];

/** Protocols that the gateway uses towards providers. */
export const UPSTREAM_DIALECT_NAMES = [...DIALECT_NAMES, "converse"] as const;

export type UpstreamDialectName = (typeof UPSTREAM_DIALECT_NAMES)[number];
