/** Who can access a stored object: every key of its project, or only the key that created it. */
export const SHARING = ["project", "private"] as const;
export type Sharing = (typeof SHARING)[number];

/** The owner of a stored object. */
export interface Owned {
  project: string;
  /** The key that created it. Absent for objects that are older than this field. */
  keyId?: string | undefined;
  share: Sharing;
}

/** Who requests it. */
export interface Reader {
  project: string;
  keyId: string;
}

/** An object that the reader may not access must look as if it did not exist (S09). */
export const isVisible = ({ project, keyId, share }: Owned, reader: Reader): boolean =>
  project === reader.project && (share === "project" || keyId === reader.keyId);

/** Objects that clients create in the gateway and refer to in later requests. */
export const OBJECT_KINDS = ["file", "batch", "conversation", "cache", "upload", "completion"] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];
