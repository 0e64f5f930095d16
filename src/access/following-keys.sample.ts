import type { Clock } from "../base/clock.ts";
import { Changes } from "../storage/changes.ts";
import type { Storage } from "../storage/storage.ts";
import type { KeyRing } from "./key-ring.ts";

/** Keeps the keys up to date as the program does. */
export function followingKeys(
  ring: KeyRing,
  storage: Pick<Storage, "changeStamp">,
  clock: Clock,
  onTrouble: (name: string, error: unknown) => void = () => {},
): Changes {
  const changes = new Changes({ storage, clock, onTrouble });
  changes.follow({ name: "API keys", read: (stamp) => ring.read(stamp), tend: () => ring.tend() });
  ring.lookUp = () => changes.lookUp();
  return changes;
}
