import type { Clock } from "../base/clock.ts";
import type { Sources } from "../base/sources.ts";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import type { Config } from "../config/config.ts";
import { openFileStore } from "../files/open-file-store.ts";
import type { Leases } from "../leases/leases.ts";
import type { Log } from "../observe/log.ts";
import { BUILT_IN } from "../providers/index.ts";
import type { Gateway, Snapshot } from "../relay/gateway.ts";
import { DEFAULT_TIMINGS, type Timings } from "../relay/settle/timings.ts";
import { listen } from "../server/listener.ts";
import { routesOf } from "../server/routes.ts";
import type { Siblings } from "../storage/changes.ts";
import { connectionsOf, openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { storageFailure } from "../storage/storage-failure.ts";
import { agreedClock } from "./agreed-clock.ts";
import { assemble } from "./assemble.ts";
import { backgroundWork } from "./background-work.ts";
import { namedRetirements, tellRetirement } from "./catalogue/named-retirements.ts";
import { type MissingProvider, missingProviders } from "./configured-providers.ts";
import { adminHashOf, type FirstStart, makeFirstKeys } from "./first-start.ts";
import { InstanceHeartbeat } from "./instance-heartbeat.ts";
import { instanceId } from "./instance-id.ts";
import { Journals } from "./journals.ts";
import { type LimitSharing, limitSharing } from "./limit-sharing.ts";
import { listenForOperators } from "./listen-for-operators.ts";
import type { MetricsOfWorkers } from "./metrics/merge-workers.ts";
import { startOwnSimulator } from "./own-simulator.ts";
import { Parts } from "./parts.ts";
import type { ConfigSource } from "./read-config.ts";
import { readConfigInForce } from "./read-config-in-force.ts";
import { withSecrets } from "./secrets/with-secrets.ts";
import type { SimulatorAccess } from "./snapshot.ts";
import { logWarnings, watchReloads } from "./watch-reloads.ts";
import type { EventsOfWorkers } from "./workers/events-of-workers.ts";

interface AppOptions extends ConfigSource {
  log: Log;
  /** Time and randomness; default: the machine's own. */
  sources?: Sources;
  /** How limits are shared with other processes; default: as configured. */
  sharing?: LimitSharing | undefined;
  /** Reads the metrics of the other workers. */
  metrics?: MetricsOfWorkers;
  /** Other processes listen on the same ports. */
  sharesPorts?: boolean;
  /** The simulator of the first process. */
  simulator?: SimulatorAccess | undefined;
  /** The process that ends the gateway if it is stopped; default: this one. */
  mainProcess?: number;
  /** How many processes of this machine use the storage. */
  processes?: number;
  /** The other workers. */
  siblings?: Siblings | undefined;
  /** Shares events with the other workers. */
  events?: EventsOfWorkers;
  /** For a worker: how far the clock of the first process is ahead of the machine's. */
  firstAheadMs?: number | undefined;
  /** Shorter timeouts, for tests. */
  timings?: Partial<Timings>;
}

/** What is known about a gateway once it has started. */
export interface StartedApp {
  url: string;
  adminUrl: string;
  /** The console, with a token that opens one session within ten minutes. */
  consoleUrl: string;
  /** How clients reach it: `server.public_url`, else where it listens. */
  publicUrl: string;
  firstStart: FirstStart;
  models: number;
  /** A model to try it with: the simulator's if enabled, because it is free. */
  tryModel: string | undefined;
  /** Names of the providers that answer calls. */
  providers: readonly string[];
  /** Kinds of providers that the environment would declare if these variables were set. */
  missing: readonly MissingProvider[];
}

export interface App extends StartedApp {
  /** Calls in flight. */
  active(): number;
  /** The memory that the bodies and responses of all calls use now. */
  heldBytes: () => number;
  reload(): void;
  /**
   * Accepts calls for another `server.drain_delay_seconds`, then lets calls in flight finish within `server.drain_seconds`, or
   * until the signal fires.
   */
  stop(hurry?: AbortSignal): Promise<{ lostReceipts: number }>;
}

/** Synchronised clocks differ by less than this. */
const WRONG_CLOCK_MS = 30_000;
/** How long calls whose connection was closed may take to settle. */
const SETTLE_MS = 3_000;
/** An outer limit for stops that have their own, shorter limits: the drain and the ledger. */
const OUTER_STOP_MS = 20_000;

/** Assembles the program and starts it. If a part fails to start, the parts before it are stopped. */
export async function startApp(given: AppOptions): Promise<App> {
  const options = await withSecrets(given);
  const config = await readConfigInForce(options);
  const { sources = system, log } = options;
  const parts = new Parts({ clock: sources.clock, log });
  try {
    const storage = await openStorage(config.storage, sources.clock, options.timings?.statementMs, {
      connections: connectionsOf(options.processes ?? 1),
    });
    parts.add("storage", () => storage.close());
    const clock = await clockOf(storage, options);
    return await startParts(parts, config, storage, { ...options, sources: { ...sources, clock } });
  } catch (thrown) {
    await parts.stop();
    throw storageFailure(thrown, config.storage);
  }
}

async function clockOf(storage: Storage, { sources = system, firstAheadMs, log }: AppOptions): Promise<Clock> {
  const { clock, differsMs } = await agreedClock(storage, sources.clock, firstAheadMs);
  if (Math.abs(differsMs) > WRONG_CLOCK_MS) {
    const way = differsMs > 0 ? "ahead of" : "behind";
    log.warn(
      { seconds: Math.round(Math.abs(differsMs) / 1000) },
      `the clock of this machine is ${way} the clock of the database; budget days and key expiry follow this machine's clock`,
    );
  }
  return clock;
}

/** Each part is added once it has started; they stop in reverse order. */
async function startParts(parts: Parts, config: Config, storage: Storage, options: AppOptions): Promise<App> {
  const { log, environment, sources = system, registry = BUILT_IN, sharesPorts = false } = options;
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  logWarnings(config, log);

  const simulator =
    config.simulator && options.simulator === undefined ? await startOwnSimulator(sources.random) : undefined;
  parts.add("simulator", simulator?.stop);
  const fileStore = await openFileStore(config.files, environment, sources);
  const journals = new Journals({ config, storage, sources, log });
  await journals.recover();
  await journals.own?.reserve();
  const sharing = options.sharing ?? limitSharing(config, sources, timings.limitLeaseMs);
  const [id, shares] = [instanceId(sources), sharing?.name ?? ""];
  const files = await fileStore.identity();
  const [everyMs, main] = [timings.heartbeatMs, options.mainProcess];
  const heartbeat = new InstanceHeartbeat({ id, storage, log, sources, everyMs, shares, files, main });
  const joined = await heartbeat.join();
  parts.add("instance", () => heartbeat.stop());

  const found = { storage, fileStore, journals, sharing, heartbeat, joined, instance: id, sources, registry, timings };
  const made = await assemble(config, { ...options, ...found, simulator: options.simulator ?? simulator?.access });
  const { gateway, state, context, poller, batchRunner, nativeRunner, alerts, telemetry, leases } = made;
  for (const one of namedRetirements(config, gateway.snapshot.catalogue, sources.clock.wallMs()))
    log.warn(tellRetirement(one));
  parts.add("operations", () => poller.stop(), { together: true });
  parts.add("batches", () => batchRunner.stop(), { together: true });
  parts.add("batches at providers", () => nativeRunner.stop(), { together: true });
  parts.add("alerts", () => alerts.stop());
  parts.add("telemetry", telemetry && (() => telemetry.exporter.stop()));
  // The ledger is closed by then, so the unspent rest is known and can be returned.
  parts.add("leases", leases && (() => leases.stop()));
  await startLeases(leases);
  // What is left of batches is held before the first call may spend it.
  await batchRunner.prepare();
  // Before it listens: others may have changed something since it was read.
  await gateway.changes.join();

  const server = listen({ ...config.server, sharesPorts, context, routes: routesOf(registry.dialects) });
  parts.add("client port", () => server.close());
  const admin = listenForOperators(made, sharesPorts);
  parts.add("admin port", () => admin.drain(0));
  // A port chosen by the system is known only now.
  const setPublicUrl = (url: string) => {
    state.publicUrl = url.endsWith(":0") ? server.url : url;
  };
  setPublicUrl(config.server.publicUrl);
  warnOfUnreachable(state.publicUrl, log);

  options.events?.connect(gateway.events);

  // Rows first: when calls and background work have stopped, nothing that may hang comes between rows and the storage.
  parts.add("refusal counts", () => gateway.refusals.close());
  parts.add("captured bodies", () => gateway.captures.close());
  parts.add("cached responses", () => gateway.answerCache.close());
  parts.add("ledger", () => gateway.ledger.close(), { withinMs: OUTER_STOP_MS });
  parts.add("key usage", () => gateway.keys.writeUsed());
  parts.add("settlement", () => settled(gateway), { withinMs: OUTER_STOP_MS });

  // Only a gateway that holds its ports starts work or makes keys: a failed start must leave nothing running, and must not make
  // keys that are shown only once.
  poller.start();
  batchRunner.start();
  nativeRunner.start();
  const firstStart = await makeFirstKeys(storage, config, sources);
  state.adminHash = await adminHashOf(storage, config);
  const consoleLink = await made.access.createLink();
  await gateway.changes.spread();
  heartbeat.start();
  telemetry?.exporter.start();
  for (const [name, start] of backgroundWork(made, options.timings?.heartbeatMs)) parts.add(name, start());

  const { drainDelaySeconds, drainSeconds } = config.server;
  const drain = async (hurry?: AbortSignal) => {
    await server.linger(drainDelaySeconds, hurry);
    state.accepting = false;
    await Promise.all([server.drain(drainSeconds, hurry), batchRunner.drain(drainSeconds, hurry)]);
  };
  parts.add("calls", drain, { withinMs: (drainDelaySeconds + drainSeconds) * 1000 + OUTER_STOP_MS });
  const reloads = watchReloads(options, made, setPublicUrl);
  parts.add("configuration", () => reloads.close());

  state.phase = "running";
  return {
    url: server.url,
    adminUrl: admin.url,
    consoleUrl: consoleUrlOf(config.admin.publicUrl, admin.url, consoleLink),
    firstStart,
    publicUrl: state.publicUrl,
    models: gateway.snapshot.catalogue.list().length,
    tryModel: tryModelOf(gateway.snapshot),
    providers: [...gateway.snapshot.providers.keys()],
    missing: missingProviders(config, environment),
    active: () => gateway.runningCalls,
    heldBytes: () => gateway.memory.held,
    reload: () => reloads.reload(),
    stop: async (hurry) => {
      state.phase = "draining";
      await parts.stop(hurry);
      return { lostReceipts: gateway.ledger.lost };
    },
  };
}

function warnOfUnreachable(publicUrl: string, log: Log): void {
  if (!/^http:\/\/(0\.0\.0\.0|\[::\])[:/]/.test(publicUrl)) return;
  log.warn(`server.public_url is not set: video URLs start with ${publicUrl}, which other machines cannot reach`);
}

/** Without its source, a gateway cannot know what is left of its limits. */
async function startLeases(leases: Leases | undefined): Promise<void> {
  try {
    await leases?.start();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot connect to the server that shares limits: ${reason}. Check the URL and the password in \`redis\`.`;
    throw new GatewayError("internal", message, { cause });
  }
}

/** In a fragment the token is sent to no server, and is in no log of one. */
function consoleUrlOf(publicUrl: string, listensAt: string, link: string | undefined): string {
  const url = publicUrl.endsWith(":0") ? listensAt : publicUrl;
  return link === undefined ? url : `${url}/#link=${link}`;
}

function tryModelOf({ catalogue }: Snapshot): string | undefined {
  const texts = catalogue.list().filter(({ outputModalities }) => outputModalities.includes("text"));
  return (texts.find(({ id }) => id === "sim/standard") ?? texts[0])?.id;
}

/** Calls whose connection was cut are settled in their own time, which is short. */
async function settled(gateway: Gateway): Promise<void> {
  const { nowMs, sleep } = gateway.clock;
  const untilMs = nowMs() + SETTLE_MS;
  const isBusy = () => gateway.runningCalls > 0 || gateway.background.running > 0;
  while (isBusy() && nowMs() < untilMs) await sleep(10);
}
