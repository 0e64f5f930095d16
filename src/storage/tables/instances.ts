import { number, text } from "../columns.ts";
import type { Queries } from "../storage.ts";

/** A running gateway, as others see it in the storage. */
export interface Instance {
  id: string;
  /** Host and process, for people. */
  place: string;
  /** A unique name of the process; "" if the system cannot provide one. */
  process: string;
  startedAtMs: number;
  /** What it shares its limits through; "" if it does not. */
  shares: string;
  /** The identity of its file store; absent if it is not known, as of earlier versions. */
  files?: string;
  /** Counts up while it is alive, and down from 0 while it starts. */
  beats: number;
  /** How many calls were running at its last beat. */
  runningCalls: number;
}

/** What an instance reports about itself when it starts. */
export type RegisteredInstance = Omit<Instance, "beats" | "runningCalls">;

/**
 * All three are in one column, because earlier versions on the same storage know no other. They do not consider such an
 * instance dead.
 */
const SEPARATOR = "\n";
const placeColumn = ({ place, process, files = "" }: RegisteredInstance): string =>
  [place, process, files].join(SEPARATOR).trimEnd();

/** Adds an instance that is starting. */
export async function insertInstance(queries: Queries, instance: RegisteredInstance): Promise<void> {
  const { id, startedAtMs, shares } = instance;
  await queries.query("INSERT INTO instances (id, place, started_at_ms, shares, beats) VALUES (?, ?, ?, ?, 0)", [
    id,
    placeColumn(instance),
    startedAtMs,
    shares,
  ]);
}

export async function beat(queries: Queries, instance: RegisteredInstance, runningCalls = 0): Promise<void> {
  const { id, startedAtMs, shares } = instance;
  await queries.query(
    `INSERT INTO instances (id, place, started_at_ms, shares, beats, running_calls) VALUES (?, ?, ?, ?, 1, ?)
     ON CONFLICT (id) DO UPDATE SET beats = CASE WHEN instances.beats < 0 THEN 1 ELSE instances.beats + 1 END,
       running_calls = EXCLUDED.running_calls`,
    [id, placeColumn(instance), startedAtMs, shares, runningCalls],
  );
}

/** Shows that it is still starting. */
export async function countDown(queries: Queries, id: string): Promise<void> {
  await queries.query("UPDATE instances SET beats = beats - 1 WHERE id = ?", [id]);
}

export async function selectInstances(queries: Queries): Promise<Instance[]> {
  const rows = await queries.query(
    "SELECT id, place, started_at_ms, shares, beats, running_calls FROM instances ORDER BY started_at_ms, id",
  );
  return rows.map((row) => {
    const [place = "", process = "", files = ""] = text(row, "place").split(SEPARATOR);
    return {
      id: text(row, "id"),
      place,
      process,
      startedAtMs: number(row, "started_at_ms"),
      shares: text(row, "shares"),
      ...(files === "" ? {} : { files }),
      beats: number(row, "beats"),
      runningCalls: number(row, "running_calls"),
    };
  });
}

export async function deleteInstance(queries: Queries, id: string): Promise<void> {
  await queries.query("DELETE FROM instances WHERE id = ?", [id]);
}
