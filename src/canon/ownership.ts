/** Who may see a stored object: every key of its project, or only the key that made it. */
export const SHARING = ["project", "private"] as const;
export type Sharing = (typeof SHARING)[number];

/** Whom a stored object belongs to. */
export interface Owned {
  project: string;
  /** The key that made it; absent for objects from before keys were recorded. */
  keyId?: string | undefined;
  share: Sharing;
}

/** Who wants to see it. */
export interface Reader {
  project: string;
  keyId: string;
}

/** An object that its reader may not see must look as if it did not exist (S09). */
export const isVisible = ({ project, keyId, share }: Owned, reader: Reader): boolean =>
  project === reader.project && (share === "project" || keyId === reader.keyId);
