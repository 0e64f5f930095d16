import { text } from "../columns.ts";
import type { Queries } from "../storage.ts";
import type { Lease } from "./operations.ts";

/** An answer that some process makes in the background, under a lease in the operations' table. */
export interface BackgroundWork {
  /** The answer's id. */
  id: string;
  project: string;
  keyId: string;
  receiptId: string;
  model: string;
  /** The dialect that the answer is stored in. */
  dialect: string;
  createdAtMs: number;
}

export async function insertWork(queries: Queries, work: BackgroundWork, lease: Lease): Promise<void> {
  await queries.query(
    `INSERT INTO operations (id, kind, project, key_id, receipt_id, model, provider, credential, state, job, parts,
       request_digest, claimed, created_at_ms, deadline_at_ms, due_at_ms, lease_owner, lease_until_ms)
     VALUES (?, 'answer', ?, ?, ?, ?, '', '', 'running', ?, '[]', '', 1, ?, ?, ?, ?, ?)`,
    [
      work.id,
      work.project,
      work.keyId,
      work.receiptId,
      work.model,
      JSON.stringify({ dialect: work.dialect }),
      work.createdAtMs,
      work.createdAtMs,
      work.createdAtMs,
      lease.owner,
      Math.ceil(lease.untilMs),
    ],
  );
}

/** Takes the leases of work whose process has died. */
export async function leaseAbandonedWork(
  queries: Queries,
  lease: Lease,
  nowMs: number,
  limit: number,
): Promise<Pick<BackgroundWork, "id" | "project" | "keyId" | "dialect">[]> {
  const now = Math.floor(nowMs);
  const rows = await queries.query(
    `UPDATE operations SET lease_owner = ?, lease_until_ms = ? WHERE lease_until_ms < ? AND id IN (
       SELECT id FROM operations WHERE kind = 'answer' AND state = 'running' AND lease_until_ms < ? LIMIT ?)
     RETURNING id, project, key_id, job`,
    [lease.owner, Math.ceil(lease.untilMs), now, now, limit],
  );
  return rows.map((row) => ({
    id: text(row, "id"),
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    dialect: (JSON.parse(text(row, "job")) as { dialect: string }).dialect,
  }));
}

/** It has ended or been cancelled: its worker finds the lease gone. */
export async function deleteWork(queries: Queries, project: string, id: string): Promise<void> {
  await queries.query("DELETE FROM operations WHERE id = ? AND project = ? AND kind = 'answer'", [id, project]);
}
