import type { Sources } from "../../base/sources.ts";
import type { Queries, Storage } from "../../storage/storage.ts";
import { deleteSessionsOfPerson } from "../../storage/tables/operator-sessions.ts";
import {
  listSubjects,
  markSubjectRevoked,
  type StoredSubject,
  type SubjectFilter,
} from "../../storage/tables/token-subjects.ts";
import { type Actor, recordAct } from "../audit.ts";
import { subjectId } from "./subject-id.ts";

/** Someone as an issuer names them. */
export interface Subject {
  issuer: string;
  subject: string;
}

/** A subject as the API shows it. */
export interface SubjectView extends Subject {
  id: string;
  project: string | null;
  name: string | null;
  created_at: string;
  used_at: string | null;
  revoked_until: string | null;
}

/** Refuses the subject's tokens issued until then, ends its sessions in the console, and records the act. */
export function revokeSubject(
  storage: Storage,
  { issuer, subject }: Subject,
  untilMs: number,
  sources: Sources,
  actor: Actor,
): Promise<{ id: string; sessions: number }> {
  const id = subjectId(issuer, subject);
  return storage.transaction(async (queries) => {
    await markSubjectRevoked(queries, { id, issuer, subject }, untilMs);
    const sessions = await deleteSessionsOfPerson(queries, { issuer, subject });
    const after = { issuer, subject, revoked_until: new Date(untilMs).toISOString(), sessions };
    await recordAct(queries, { ...actor, act: "subject.revoke", target: id, after }, sources);
    return { id, sessions };
  });
}

const MAX_PAGE = 500;

/** The most recently used first. */
export async function subjectsPage(
  queries: Queries,
  filter: SubjectFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ subjects: SubjectView[]; next: string | null }> {
  const most = Math.max(1, Math.min(limit, MAX_PAGE));
  const found = await listSubjects(queries, filter, { limit: most + 1, after });
  const subjects = found.slice(0, most).map(subjectView);
  return { subjects, next: found.length > most ? (subjects.at(-1)?.id ?? null) : null };
}

const subjectView = (stored: StoredSubject): SubjectView => ({
  id: stored.id,
  issuer: stored.issuer,
  subject: stored.subject,
  project: stored.project || null,
  name: stored.name || null,
  created_at: new Date(stored.createdAtMs).toISOString(),
  used_at: stored.usedAtMs === 0 ? null : new Date(stored.usedAtMs).toISOString(),
  revoked_until: stored.revokedUntilMs === undefined ? null : new Date(stored.revokedUntilMs).toISOString(),
});
