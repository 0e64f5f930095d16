import { text } from "../columns.ts";
import type { Queries } from "../storage.ts";

interface Opening {
  subject: string;
  /** The process that observes it, and will report its end. */
  owner: string;
  nowMs: number;
  /** The minimum time between two openings of the same incident. */
  pauseMs: number;
  /** An incident that no process has observed for this long is over, though nobody reported it. */
  forgottenMs: number;
}

/** `opened`: by this call. `known`: it is already open. `too soon`: it was opened a moment ago. */
export async function openIncident(queries: Queries, opening: Opening): Promise<"opened" | "known" | "too soon"> {
  const { subject, owner, pauseMs, forgottenMs } = opening;
  const now = Math.floor(opening.nowMs);
  const opened = await queries.query(
    `INSERT INTO alert_incidents (subject, state, opened_at_ms, owner, seen_at_ms) VALUES (?, 'down', ?, ?, ?)
     ON CONFLICT (subject) DO UPDATE SET state = 'down', opened_at_ms = excluded.opened_at_ms, owner = excluded.owner,
       seen_at_ms = excluded.seen_at_ms
     WHERE (alert_incidents.state = 'up' AND (alert_incidents.opened_at_ms <= ? OR alert_incidents.opened_at_ms > ?))
       OR (alert_incidents.state = 'down' AND alert_incidents.seen_at_ms < ?)
     RETURNING subject`,
    [subject, now, owner, now, now - pauseMs, now, now - forgottenMs],
  );
  if (opened.length > 0) return "opened";
  const [row] = await queries.query("SELECT state FROM alert_incidents WHERE subject = ?", [subject]);
  return row !== undefined && text(row, "state") === "down" ? "known" : "too soon";
}

interface Closing {
  subject: string;
  owner: string;
  nowMs: number;
  /** An owner that has not observed it for this long is considered dead. */
  staleMs: number;
}

/** True if this call ended it. */
export async function closeIncident(queries: Queries, closing: Closing): Promise<boolean> {
  const { subject, owner, staleMs } = closing;
  const now = Math.floor(closing.nowMs);
  const closed = await queries.query(
    `UPDATE alert_incidents SET state = 'up' WHERE subject = ? AND state = 'down'
       AND (owner = ? OR seen_at_ms < ? OR seen_at_ms > ?) RETURNING subject`,
    [subject, owner, now - staleMs, now + staleMs],
  );
  return closed.length > 0;
}

interface Seeing {
  owner: string;
  /** What this process observes as down. */
  subjects: readonly string[];
  nowMs: number;
  staleMs: number;
}

/** All open incidents. Those that this process observes become its own if their owner is dead. */
export async function seeIncidents(queries: Queries, seeing: Seeing): Promise<Set<string>> {
  const { owner, subjects, staleMs } = seeing;
  const rows = await queries.query("SELECT subject FROM alert_incidents WHERE state = 'down'");
  const open = new Set(rows.map((row) => text(row, "subject")));
  const now = Math.floor(seeing.nowMs);
  for (const subject of subjects) {
    if (!open.has(subject)) continue;
    await queries.query(
      `UPDATE alert_incidents SET seen_at_ms = ?, owner = ? WHERE subject = ? AND state = 'down'
         AND (owner = ? OR seen_at_ms < ? OR seen_at_ms > ?)`,
      [now, owner, subject, owner, now - staleMs, now + staleMs],
    );
  }
  return open;
}
