import { text } from "../columns.ts";
import type { Queries } from "../storage.ts";

interface Opening {
  subject: string;
  /** The process that sees it, and will see its end. */
  owner: string;
  nowMs: number;
  /** The same thing is not opened again sooner than this after it was opened last. */
  pauseMs: number;
  /** One that no process has seen for so long is over, though no one has told so. */
  forgottenMs: number;
}

/** `opened`: by this call. `known`: it is open already. `too soon`: it was open a moment ago. */
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
  /** An owner that has not seen it for so long is taken for dead. */
  staleMs: number;
}

/** True where this call ended it. */
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
  /** What this process sees down. */
  subjects: readonly string[];
  nowMs: number;
  staleMs: number;
}

/** What is open, whoever has seen it. Those that this process sees are its own where it has them, or where their owner is dead. */
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
