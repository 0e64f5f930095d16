import type { Cancel } from "../base/clock.ts";
import { readCatalogueChanges } from "../storage/tables/catalogue-updates.ts";
import type { Assembled } from "./assemble.ts";
import { readCatalogue } from "./catalogue-updates.ts";

const EVERY_MS = 2_000;

/** Applies updates of the catalogue to the running gateway. Calls that have begun keep the prices that they began with. */
export function watchCatalogue({ gateway, storage, state, history, snapshotOf }: Assembled): Cancel {
  const { clock, log } = gateway;
  let isReading = false;
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
  return clock.every(
    EVERY_MS,
    () => {
      if (isReading) return;
      isReading = true;
      look()
        .catch((err: unknown) =>
          log.error({ err }, "the catalogue could not be updated; the current one stays in force"),
        )
        .finally(() => {
          isReading = false;
        });
    },
    { background: true },
  );
}
