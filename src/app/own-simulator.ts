import type { Random } from "../base/sources.ts";
import { loadSimulator } from "./load-simulator.ts";
import type { SimulatorAccess } from "./snapshot.ts";

/** Its key is known to this gateway alone: every user of the machine can reach the simulator's port (S19). */
export async function startOwnSimulator(
  random: Random,
): Promise<{ access: SimulatorAccess; stop: () => Promise<void> }> {
  const key = `${random.id()}${random.id()}`;
  const { url, stop } = await (await loadSimulator()).startSimulator({ apiKey: key, closed: true });
  return { access: { url, key }, stop };
}
