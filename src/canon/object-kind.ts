/** What clients create at the gateway and name in later requests. */
export const OBJECT_KINDS = ["file", "batch", "conversation", "cache", "upload", "completion"] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];
