import type { Config } from "../config/config.ts";
import { tellProblem } from "../config/load.ts";
import { restartFields } from "../config/restart-fields.ts";
import { type ConfigWatch, watchConfig } from "../config/watch.ts";
import type { Log } from "../observe/log.ts";
import type { Assembled } from "./assemble.ts";
import { type ConfigSource, readConfig } from "./read-config.ts";
import { replaceKeysOrExplain } from "./static-keys.ts";

/** Applies each new configuration to the running gateway. An invalid one changes nothing (H25). */
export function watchReloads(
  source: ConfigSource,
  { config: started, gateway, alerts, oidc, history, snapshotOf, state }: Assembled,
  setPublicUrl: (url: string) => void,
): ConfigWatch {
  const { clock, log, timings } = gateway;
  return watchConfig(
    () => readConfig({ ...source, catalogue: state.catalogue }),
    (changed) => {
      const snapshot = snapshotOf(changed);
      replaceKeysOrExplain(gateway.keys, changed);
      gateway.snapshot = snapshot;
      gateway.health.reconfigure(snapshot.targets.all(), snapshot.routing);
      setPublicUrl(changed.server.publicUrl);
      alerts.reconfigure(changed.alerts);
      oidc.reconfigure(changed.admin.oidc);
      history.reloaded(changed);
      log.info({ models: gateway.snapshot.catalogue.list().length }, "configuration reloaded");
      logWarnings(changed, log);
      for (const field of restartFields(started, changed))
        log.warn(`${field} changed, but takes effect only after a restart`);
    },
    (error) => {
      history.refused(error.problems);
      log.error(`failed to reload the configuration; the previous one stays in effect:\n${error.message}`);
    },
    { clock, settleMs: timings.configSettleMs },
  );
}

export function logWarnings({ warnings }: Config, log: Log): void {
  for (const warning of warnings) log.warn(tellProblem(warning));
}
