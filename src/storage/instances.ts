import { number, text } from "./columns.ts";
import type { Queries } from "./storage.ts";

/** A running gateway, as others see it in the storage. */
export interface Instance {
  id: string;
  /** Host and process, for people. */
  place: string;
  startedAtMs: number;
  /** Counts up while it lives. */
  beats: number;
}

export async function beat(queries: Queries, { id, place, startedAtMs }: Omit<Instance, "beats">): Promise<void> {
  await queries.query(
    `INSERT INTO instances (id, place, started_at_ms, beats) VALUES (?, ?, ?, 1)
     ON CONFLICT (id) DO UPDATE SET beats = instances.beats + 1`,
    [id, place, startedAtMs],
  );
}

export async function selectInstances(queries: Queries): Promise<Instance[]> {
  const rows = await queries.query("SELECT id, place, started_at_ms, beats FROM instances ORDER BY started_at_ms, id");
  return rows.map((row) => ({
    id: text(row, "id"),
    place: text(row, "place"),
    startedAtMs: number(row, "started_at_ms"),
    beats: number(row, "beats"),
  }));
}

export async function deleteInstance(queries: Queries, id: string): Promise<void> {
  await queries.query("DELETE FROM instances WHERE id = ?", [id]);
}
