const PREFIX = "sub_";

/**
 * The id of a subject, in the place of a key's id. The same subject of another issuer is another one. It is the whole digest, because
 * a shortened one could be that of two subjects (S06).
 */
export const subjectId = (issuer: string, subject: string): string =>
  `${PREFIX}${Bun.SHA256.hash(JSON.stringify([issuer, subject]), "base64url")}`;

/** Whether the id of a key is that of a subject. */
export const isSubjectId = (id: string): boolean => id.startsWith(PREFIX);
