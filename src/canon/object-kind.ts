/** Objects that clients create in the gateway and refer to in later requests. */
export const OBJECT_KINDS = ["file", "batch", "conversation", "cache", "upload", "completion"] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];
