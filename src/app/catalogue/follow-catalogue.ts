import type { Config } from "../../config/config.ts";
import type { Gateway, Snapshot } from "../../relay/gateway.ts";
import type { Storage } from "../../storage/storage.ts";
import { readCatalogue, type StoredCatalogue } from "./catalogue-updates.ts";

/** How often an update that cannot be applied is tried again: another configuration may make it possible. */
const RETRY_MS = 2_000;

interface Following {
  gateway: Gateway;
  storage: Storage;
  state: { catalogue: StoredCatalogue };
  history: { readonly current: Config };
  snapshotOf: (config: Config) => Snapshot;
}

/** Applies updates of the catalogue to the running gateway. Calls that have begun keep the prices that they began with. */
export function followCatalogue({ gateway, storage, state, history, snapshotOf }: Following): void {
  const { clock, log } = gateway;
  let failed: { reason: unknown; retriesMs: number } | undefined;
  const apply = async () => {
    const before = state.catalogue;
    state.catalogue = await readCatalogue(storage);
    try {
      const snapshot = snapshotOf(history.current);
      gateway.snapshot = snapshot;
      gateway.health.reconfigure(snapshot.targets.all(), snapshot.routing);
    } catch (thrown) {
      state.catalogue = before;
      failed = { reason: thrown, retriesMs: clock.nowMs() + RETRY_MS };
      throw thrown;
    }
    failed = undefined;
    log.info({ models: gateway.snapshot.catalogue.list().length }, "catalogue updated");
  };
  gateway.changes.follow({
    name: "the catalogue",
    read: async ({ catalogue }) => {
      if (catalogue === state.catalogue.change) return;
      if (failed !== undefined && clock.nowMs() < failed.retriesMs) throw failed.reason;
      await apply();
    },
  });
}
