const PREFIX = "sub_";

/**
 * The id of a subject, used in place of a key's id. The same `sub` of another issuer is another subject. It is the whole digest, because
 * two subjects could share a shortened one (S06).
 */
export const subjectId = (issuer: string, subject: string): string =>
  `${PREFIX}${Bun.SHA256.hash(JSON.stringify([issuer, subject]), "base64url")}`;

/** Whether the id of a key is that of a subject. */
export const isSubjectId = (id: string): boolean => id.startsWith(PREFIX);
