/** The wire languages that the gateway speaks, on its doorstep and towards providers. */
export const DIALECT_NAMES = ["chat", "messages", "genai"] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];
