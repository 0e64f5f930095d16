import type { Cancel } from "../../base/clock.ts";
import { readCatalogueChanges } from "../../storage/tables/catalogue-updates.ts";
import type { Assembled } from "../assemble.ts";
import { readCatalogue } from "./catalogue-updates.ts";

const EVERY_MS = 2_000;
/** How often a failure that lasts is logged again. */
const LOG_AGAIN_MS = 300_000;

type Watched = Pick<Assembled, "gateway" | "storage" | "state" | "history" | "snapshotOf">;

/** Applies updates of the catalogue to the running gateway. Calls that have begun keep the prices that they began with. */
export function watchCatalogue({ gateway, storage, state, history, snapshotOf }: Watched): Cancel {
  const { clock, log } = gateway;
  let isReading = false;
  let failures = 0;
  let loggedAtMs = 0;
  const look = async () => {
    if ((await readCatalogueChanges(storage)) === state.catalogue.change) return;
    const before = state.catalogue;
    state.catalogue = await readCatalogue(storage);
    try {
      const snapshot = snapshotOf(history.current);
      gateway.snapshot = snapshot;
      gateway.health.reconfigure(snapshot.targets.all(), snapshot.routing);
    } catch (thrown) {
      state.catalogue = before;
      throw thrown;
    }
    log.info({ models: gateway.snapshot.catalogue.list().length }, "catalogue updated");
  };
  const failed = (err: unknown) => {
    failures++;
    if (failures > 1 && clock.nowMs() - loggedAtMs < LOG_AGAIN_MS) return;
    loggedAtMs = clock.nowMs();
    log.error({ err, failures }, "the catalogue could not be updated; the current one stays in force");
  };
  const succeeded = () => {
    if (failures > 0) log.info({ failures }, "the catalogue can be updated again");
    failures = 0;
  };
  return clock.every(
    EVERY_MS,
    () => {
      if (isReading) return;
      isReading = true;
      look()
        .then(succeeded, failed)
        .finally(() => {
          isReading = false;
        });
    },
    { background: true },
  );
}
