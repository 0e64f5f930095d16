import type { Config } from "../config/config.ts";
import { tellProblem } from "../config/load.ts";
import { restartFields } from "../config/restart-fields.ts";
import { type ConfigWatch, watchConfig } from "../config/watch.ts";
import type { Log } from "../observe/log.ts";
import type { Assembled } from "./assemble.ts";
import { ConfigRecord } from "./config-acts.ts";
import { type ConfigSource, readConfig } from "./read-config.ts";
import { FreshSecrets } from "./secrets/fresh-secrets.ts";
import { replaceKeysOrExplain } from "./static-keys.ts";

/** How often the secrets of stores are read again. */
const SECRETS_MS = 60_000;

/** Applies each new configuration to the running gateway. An invalid one changes nothing (H25). */
export function watchReloads(
  source: ConfigSource,
  { config: started, gateway, storage, alerts, oidc, history, snapshotOf, state }: Assembled,
  setPublicUrl: (url: string) => void,
): ConfigWatch {
  const { clock, log, timings } = gateway;
  const fresh = new FreshSecrets(source, log);
  let isAsked = false;
  const changes = new ConfigRecord(storage, gateway);
  const record = (config: Config) =>
    void changes
      .record(config, !isAsked)
      .catch((err: unknown) => log.warn({ err }, "recording a change of the configuration failed"));
  record(started);
  const watch = watchConfig(
    () => readConfig({ ...source, ...fresh.known, catalogue: state.catalogue }),
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
      record(changed);
      // Before anyone is shown it, unless another process asked for it.
      if (!isAsked) gateway.changes.spreadConfiguration();
      logWarnings(changed, log);
      for (const field of restartFields(started, changed))
        log.warn(`${field} changed, but takes effect only after a restart`);
    },
    (error) => {
      history.refused(error.problems);
      log.error(`failed to reload the configuration; the previous one stays in effect:\n${error.message}`);
    },
    { clock, settleMs: timings.configSettleMs, prepare: () => fresh.refresh() },
  );
  gateway.changes.onConfiguration = () => {
    isAsked = true;
    watch.applyChanged();
    isAsked = false;
  };
  const stop = clock.every(
    SECRETS_MS,
    () => {
      void fresh.refresh()?.then((hasChanged) => hasChanged && watch.recheck());
    },
    { background: true },
  );
  return {
    ...watch,
    close: () => {
      stop();
      watch.close();
    },
  };
}

export function logWarnings({ warnings }: Config, log: Log): void {
  for (const warning of warnings) log.warn(tellProblem(warning));
}
