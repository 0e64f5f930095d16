import { GatewayError } from "../canon/error.ts";
import type { Storage } from "../storage/storage.ts";
import { selectInstances } from "../storage/tables/instances.ts";

/** A running gateway increments its beat count more often than this. */
const BEAT_MS = 12_000;

/** Throws if a gateway is running on the storage. The beat count of a killed one does not change. */
export async function requireStopped(storage: Storage): Promise<void> {
  const before = await selectInstances(storage);
  if (before.length === 0) return;
  console.error("A gateway may still be using this database. Checking for 12 seconds whether it is running …");
  await Bun.sleep(BEAT_MS);
  const beats = new Map(before.map((instance) => [instance.id, instance.beats]));
  const running = (await selectInstances(storage)).find(({ id, beats: now }) => now !== (beats.get(id) ?? -1));
  if (running === undefined) return;
  throw new GatewayError("invalid_request", `A gateway is running on this database (${running.place}). Stop it first.`);
}
