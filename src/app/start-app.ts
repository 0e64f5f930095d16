import { OperatorAccess } from "../access/operator-access.ts";
import { readKeyFile } from "../answers/key-file.ts";
import type { Sources } from "../base/sources.ts";
import { system } from "../base/system.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { GatewayError } from "../canon/error.ts";
import type { Config } from "../config/config.ts";
import { tellProblem } from "../config/load.ts";
import { restartFields } from "../config/restart-fields.ts";
import { watchConfig } from "../config/watch.ts";
import { openFileStore } from "../files/open-file-store.ts";
import { Leases } from "../leases/leases.ts";
import type { Log } from "../observe/log.ts";
import type { Operations } from "../operations/operations.ts";
import { BUILT_IN } from "../providers/index.ts";
import { buryAbandonedAnswers } from "../relay/background.ts";
import type { Gateway, Snapshot } from "../relay/gateway.ts";
import { DEFAULT_TIMINGS, type Timings } from "../relay/timings.ts";
import { authorize } from "../server/admin/authorize.ts";
import { adminRoutes } from "../server/admin/routes.ts";
import { WrongSecrets } from "../server/admin/wrong-secrets.ts";
import { askWithin } from "../server/ask-within.ts";
import { consoleRoutes } from "../server/console.ts";
import { listen } from "../server/listener.ts";
import { LoginThrottle } from "../server/login-throttle.ts";
import { createRequestHandler } from "../server/request-handler.ts";
import type { ServerContext } from "../server/routed-request.ts";
import { routesOf } from "../server/routes.ts";
import { deleteInstance } from "../storage/instances.ts";
import { MANY_CONNECTIONS, openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { storageFailure } from "../storage/storage-failure.ts";
import type { Family } from "../telemetry/family.ts";
import { LoopLag } from "../telemetry/loop-lag.ts";
import { VERSION } from "../version.ts";
import { fetchMedia, streamMedia } from "../wire/media-fetch.ts";
import { createSend } from "../wire/send.ts";
import { ConfigHistory } from "./admin-config.ts";
import { agreedClock } from "./agreed-clock.ts";
import { bundledConsole } from "./bundled-console.ts";
import { conditionOf, partsOf } from "./condition.ts";
import { deleteOldReceiptsRegularly } from "./delete-old-receipts.ts";
import { deleteSettledRegularly } from "./delete-settled-intents.ts";
import { adminHashOf, type FirstStart, makeFirstKeys } from "./first-start.ts";
import { InstanceHeartbeat } from "./instance-heartbeat.ts";
import { instanceId } from "./instance-id.ts";
import { Journals } from "./journals.ts";
import { loadSimulator } from "./load-simulator.ts";
import { makeAlerts } from "./make-alerts.ts";
import { makeGateway, spentAt } from "./make-gateway.ts";
import { makeOperations } from "./make-operations.ts";
import { makeTelemetry } from "./make-telemetry.ts";
import { collectMetrics } from "./metrics/collect.ts";
import type { MetricsOfWorkers } from "./metrics/merge-workers.ts";
import { providerForms } from "./provider-forms.ts";
import { type ConfigSource, readConfig } from "./read-config.ts";
import { rollUpRegularly } from "./roll-up-regularly.ts";
import { shareNews } from "./share-news.ts";
import { type Sharing, sharingOf } from "./sharing.ts";
import { type MissingProvider, makeSnapshot, missingProviders } from "./snapshot.ts";
import { spentByInstance } from "./spent-by-instance.ts";
import { replaceKeysOrExplain } from "./static-keys.ts";
import { telemetrySettings } from "./telemetry-settings.ts";
import { tryProvider } from "./try-provider.ts";
import { BudgetWatch } from "./watch-budgets.ts";
import { watchClock } from "./watch-clock.ts";

interface AppOptions extends ConfigSource {
  log: Log;
  /** Time and randomness; the machine's own where nothing is given. */
  sources?: Sources;
  /** How limits are shared with other processes; by the configuration where absent. */
  sharing?: Sharing | undefined;
  /** How the metrics of processes beside this one are read. */
  metrics?: MetricsOfWorkers;
  /** Other processes listen on the same ports. */
  sharesPorts?: boolean;
  /** Of a worker: how far the clock of its first process is ahead of the machine's. */
  firstAheadMs?: number | undefined;
  /** Shorter timeouts, for tests. */
  timings?: Partial<Timings>;
}

/** What a gateway that has started says of itself. */
export interface StartedApp {
  url: string;
  adminUrl: string;
  /** The console, with a token that opens one session within ten minutes. */
  consoleUrl: string;
  /** How clients reach it: `server.public_url`, else where it listens. */
  publicUrl: string;
  firstStart: FirstStart;
  models: number;
  /** A model to try it with: the simulator's where there is one, since that is free. */
  tryModel: string | undefined;
  /** Names of the providers that answer calls. */
  providers: readonly string[];
  /** Kinds of providers that the environment would make, were these variables set. */
  missing: readonly MissingProvider[];
}

export interface App extends StartedApp {
  /** Calls in flight. */
  active(): number;
  /** What all calls hold in memory now, of bodies and answers. */
  heldBytes: () => number;
  reload(): void;
  /**
   * Takes calls for `server.drain_delay_seconds` more, then lets running ones finish within `server.drain_seconds`, or until
   * the signal comes.
   */
  stop(hurry?: AbortSignal): Promise<{ lostReceipts: number }>;
}

const SWEEP_MS = 600_000;
/** By more than this the clock of a machine and that of the database do not differ where both are kept right. */
const WRONG_CLOCK_MS = 30_000;
/** How long each last step of a stop may take. */
const LAST_STEP_MS = 3_000;

/** Puts the program together and starts it. */
export async function startApp(options: AppOptions): Promise<App> {
  const config = readConfig(options);
  const { sources = system, firstAheadMs, log } = options;
  const storage = await openStorage(config.storage, sources.clock, options.timings?.statementMs, {
    connections: MANY_CONNECTIONS,
  });
  const instance = instanceId(sources);
  try {
    const { clock, differsMs } = await agreedClock(storage, sources.clock, firstAheadMs);
    if (Math.abs(differsMs) > WRONG_CLOCK_MS) {
      const way = differsMs > 0 ? "ahead of" : "behind";
      log.warn(
        { seconds: Math.round(Math.abs(differsMs) / 1000) },
        `the clock of this machine is ${way} that of the database: days of budgets and the expiry of keys follow this machine's`,
      );
    }
    return await startWith(config, storage, instance, { ...options, sources: { ...sources, clock } });
  } catch (thrown) {
    // A start that failed is no gateway that others have to heed.
    await deleteInstance(storage, instance).catch(() => {});
    throw storageFailure(thrown, config.storage);
  }
}

async function startWith(config: Config, storage: Storage, instance: string, options: AppOptions): Promise<App> {
  const { log, environment, sources = system, registry = BUILT_IN } = options;
  const { clock, random } = sources;
  const { wallMs } = clock;
  const warn = ({ warnings }: Config) => {
    for (const warning of warnings) log.warn(tellProblem(warning));
  };
  warn(config);
  // A key that only this process knows: every user of the machine can reach the simulator's port (S19).
  const simulatorKey = `${random.id()}${random.id()}`;
  const simulator = config.simulator
    ? await (await loadSimulator()).startSimulator({ apiKey: simulatorKey, closed: true })
    : undefined;
  const simulatorAccess = simulator && { url: simulator.url, key: simulatorKey };
  let { publicUrl } = config.server;
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  const fileStore = await openFileStore(config.files, environment, sources);
  const journals = new Journals({ config, storage, sources, log });
  await journals.recover();
  const sharing = options.sharing ?? sharingOf(config, sources, timings.limitLeaseMs);
  const { heartbeatMs: everyMs } = timings;
  const heartbeat = new InstanceHeartbeat({
    id: instance,
    storage,
    log,
    sources,
    everyMs,
    shares: sharing?.name ?? "",
  });
  const { isFirst, dead } = await heartbeat.join();
  const leases =
    sharing &&
    new Leases({
      source: sharing.source,
      clock,
      instance,
      leaseMs: timings.limitLeaseMs,
      isFirst,
      dead,
      journal: { folder: await journals.folderName(), isBehind: () => gateway.ledger.isBehind },
      spent: spentByInstance({ storage, recover: () => journals.recover() }),
      onTrouble: (err) => {
        if (err === undefined) log.info("the source of shared limits answers again");
        else log.error({ err }, "the source of shared limits does not answer: what is held of them is used");
      },
    });
  const settings = telemetrySettings(config, environment, (message) => log.warn(message));
  let ownMetrics: () => readonly Family[] = () => [];
  const telemetry = settings && makeTelemetry(settings, { sources, log, instance, collect: () => ownMetrics() });
  const gateway = await makeGateway(config, {
    instance,
    leases,
    clock,
    random,
    send: createSend(clock),
    fetchMedia: (url, options) => fetchMedia(url, { ...options, clock }),
    streamMedia: (url, options) => streamMedia(url, { ...options, clock }),
    log,
    timings,
    publicUrl: () => publicUrl,
    snapshot: makeSnapshot(config, environment, sources, simulatorAccess, registry),
    storage,
    fileStore,
    journal: journals.own,
    answerKey: answerKeyOf(config, random, log),
    tracing: telemetry?.tracing,
    alsoCount: telemetry?.genAi && ((receipt) => telemetry.genAi?.count(receipt, systemOf(gateway, receipt.provider))),
  });
  const { operations, poller } = await makeOperations(gateway, storage, config.retention.ms);
  let accepting = true;
  let phase: "starting" | "running" | "draining" = "starting";
  await startLeases(leases);
  const context: ServerContext = {
    dialects: registry.dialects,
    gateway,
    storage,
    operations,
    accepting: () => accepting,
    draining: () => phase === "draining",
    condition: () => conditionOf({ phase, keys: gateway.keys, ledger: gateway.ledger, heartbeat, leases }),
    publicUrl: () => publicUrl,
    version: VERSION,
  };
  const { sharesPorts = false } = options;
  const routes = routesOf(registry.dialects);
  const server = listen({ ...config.server, sharesPorts, context, routes });
  const history = new ConfigHistory({
    started: config,
    read: (text) => readConfig({ ...options, text }),
    build: (checked) => makeSnapshot(checked, environment, sources, simulatorAccess, registry),
    wallMs,
  });
  const alerts = makeAlerts(config, { gateway, storage, sources, condition: context.condition });
  const budgets = new BudgetWatch({
    clock,
    levels: () => gateway.keys.levels(),
    spent: (asOfMs) => spentAt(storage, asOfMs),
    onProblem: (err) => log.warn({ err }, "what budgets have left could not be read"),
    onLook: (uses, asOfMs) => {
      void alerts.tellBudgets(uses, asOfMs);
      // What other processes have seen matters where money is limited.
      if (uses.length > 0) void gateway.unpriced.read();
    },
  });
  const lag = new LoopLag();
  const metrics = collectMetrics({
    gateway,
    condition: context.condition,
    config: history,
    budgets,
    alerts,
    lag,
    workers: options.metrics,
    exporter: telemetry?.exporter,
  });
  ownMetrics = metrics.own;
  let adminHash: string | undefined;
  const access = new OperatorAccess({ ...sources, storage, adminHash: () => adminHash });
  const wrongSecrets = new WrongSecrets({ ...sources, storage, log });
  const admin = listen({
    ...config.admin,
    sharesPorts,
    context,
    routes: [
      ...adminRoutes({
        access,
        logins: new LoginThrottle(clock),
        wrongSecrets,
        publicUrl: config.admin.publicUrl,
        config: history,
        alerts,
        parts: () => partsOf({ ...gateway, heartbeat, leases }),
        clientsUrl: () => publicUrl,
        listener: askWithin(createRequestHandler({ ...config.server, context, routes })),
        metrics: { open: config.admin.openMetrics, collect: metrics.all },
        probe: (name) => Promise.all((gateway.snapshot.providers.get(name) ?? []).map(tryProvider)),
        forms: providerForms(registry),
        probeDraft: async (yaml, name) => {
          const [draft] = history.providersOf(yaml).get(name) ?? [];
          return draft && (await tryProvider(draft));
        },
      }),
      ...consoleRoutes(bundledConsole),
    ],
    authorize: (request, roles, connection) =>
      authorize(request, roles, connection, { access, wrongSecrets, publicUrl: config.admin.publicUrl }),
  });

  // A port chosen by the system is known only now.
  const reachable = (url: string) => (url.endsWith(":0") ? server.url : url);
  publicUrl = reachable(publicUrl);
  if (/^http:\/\/(0\.0\.0\.0|\[::\])[:/]/.test(publicUrl)) {
    log.warn(`server.public_url is not set: URLs of videos begin with ${publicUrl}, which other machines cannot reach`);
  }

  // Only a gateway that holds its ports starts work or makes keys: a failed start must leave nothing running, and must not make
  // keys that are shown only once.
  poller.start();
  const firstStart = await makeFirstKeys(storage, config, sources);
  adminHash = await adminHashOf(storage, config);
  const consoleLink = await access.createLink();
  await gateway.keys.refresh();
  const stopWatchingKeys = gateway.keys.startWatching();
  heartbeat.start();
  const stopWatchingBudgets = budgets.start();
  const stopTellingOperators = alerts.start();
  const stopWatchingLag = lag.watch(clock);
  telemetry?.exporter.start();
  const stopWatchingClock = watchClock({
    clock,
    onStep: (byMs) => {
      const way = byMs > 0 ? "forward" : "back";
      log.warn({ seconds: Math.round(byMs / 1000) }, `the clock went ${way}: it was set, or the machine slept`);
      const asOfMs = wallMs();
      spentAt(storage, asOfMs).then(
        (spent) => gateway.admissions.learn(spent, asOfMs),
        (err: unknown) => log.error({ err }, "what was spent on the day that the clock shows could not be read"),
      );
    },
    ...(options.timings?.heartbeatMs === undefined ? {} : { everyMs: timings.heartbeatMs }),
  });
  const stopRenewing = gateway.sharedLimits?.watch();
  const stopTelling = leases && shareNews(gateway, leases);
  const stopSweeping = sweepRegularly(gateway, operations);
  const stopDeleting = deleteOldReceiptsRegularly(config.ledger, { storage, clock, log });
  const stopDeletingSettled = deleteSettledRegularly(config.ledger, { storage, clock, log });
  const stopRollingUp = rollUpRegularly({ storage, clock, log });
  const stopRecovering = journals.watch();
  const stopBurying = clock.every(timings.operationLeaseMs / 2, () => {
    buryAbandonedAnswers(gateway, registry.dialects).catch((err: unknown) => {
      log.error({ err }, "ending the responses of stopped processes failed");
    });
  });

  const watch = watchConfig(
    () => readConfig(options),
    (changed) => {
      const snapshot = makeSnapshot(changed, environment, sources, simulatorAccess, registry);
      replaceKeysOrExplain(gateway.keys, changed);
      gateway.snapshot = snapshot;
      gateway.health.reconfigure(snapshot.targets.all(), snapshot.routing);
      publicUrl = reachable(changed.server.publicUrl);
      alerts.reconfigure(changed.alerts);
      history.reloaded(changed);
      log.info({ models: gateway.snapshot.catalogue.list().length }, "configuration reloaded");
      warn(changed);
      for (const field of restartFields(config, changed)) log.warn(`${field} needs a restart; the old value stays`);
    },
    (error) => {
      history.refused(error.problems);
      log.error(`configuration not reloaded, the old one stays:\n${error.message}`);
    },
    { clock, settleMs: timings.configSettleMs },
  );

  phase = "running";
  return {
    url: server.url,
    adminUrl: admin.url,
    consoleUrl: consoleUrlOf(config.admin.publicUrl, admin.url, consoleLink),
    firstStart,
    publicUrl,
    models: gateway.snapshot.catalogue.list().length,
    tryModel: tryModelOf(gateway.snapshot),
    providers: [...gateway.snapshot.providers.keys()],
    missing: missingProviders(config, environment),
    active: () => gateway.runningCalls,
    heldBytes: () => gateway.memory.held,
    reload: () => watch.reload(),
    stop: async (hurry) => {
      phase = "draining";
      watch.close();
      const { drainDelaySeconds, drainSeconds } = config.server;
      await server.linger(drainDelaySeconds, hurry);
      accepting = false;
      await server.drain(drainSeconds, hurry);
      stopWatchingKeys();
      stopWatchingClock();
      stopWatchingBudgets();
      stopTellingOperators();
      stopWatchingLag();
      stopSweeping();
      stopRenewing?.();
      stopDeleting();
      stopRollingUp();
      stopDeletingSettled();
      stopTelling?.();
      stopRecovering();
      stopBurying();
      // Rows first: nothing that may hang comes between them and the storage.
      await settled(gateway);
      await inTime(gateway.keys.writeUsed(), gateway);
      await gateway.ledger.close();
      await inTime(gateway.captures.close(), gateway);
      await inTime(gateway.refusals.close(), gateway);
      // What was spent is in the ledger: the rest is for others.
      if (leases !== undefined) await inTime(leases.stop(), gateway);
      await telemetry?.exporter.stop();
      await inTime(alerts.stop(), gateway);
      await inTime(Promise.all([admin.drain(0), poller.stop(), heartbeat.stop(), simulator?.stop()]), gateway);
      await inTime(storage.close(), gateway);
      return { lostReceipts: gateway.ledger.lost };
    },
  };
}

/** Without its source, a gateway cannot know what is left of its limits. */
async function startLeases(leases: Leases | undefined): Promise<void> {
  try {
    await leases?.start();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The source of shared limits does not answer: ${reason}. Is \`redis\` its URL, with its password where it needs one?`;
    throw new GatewayError("internal", message, { cause });
  }
}

/** As OpenTelemetry's conventions call a provider. */
const systemOf = ({ snapshot }: Gateway, provider: string): string =>
  snapshot.providers.get(provider)?.[0]?.systemName ?? "_OTHER";

/** In a fragment the token is sent to no server, and is in no log of one. */
function consoleUrlOf(publicUrl: string, listensAt: string, link: string | undefined): string {
  const url = publicUrl.endsWith(":0") ? listensAt : publicUrl;
  return link === undefined ? url : `${url}/#link=${link}`;
}

function tryModelOf({ catalogue }: Snapshot): string | undefined {
  const texts = catalogue.list().filter(({ outputModalities }) => outputModalities.includes("text"));
  return (texts.find(({ id }) => id === "sim/standard") ?? texts[0])?.id;
}

/** Without a key nothing is stored; calls are answered all the same. */
function answerKeyOf({ dataDir }: Config, random: Sources["random"], log: Log): Uint8Array | undefined {
  try {
    return readKeyFile(dataDir, random);
  } catch (err) {
    log.error({ err }, "responses and bodies are not stored: their key cannot be read from data_dir, nor made there");
    return undefined;
  }
}

/** Calls whose connection was cut are settled in their own time, which is short. */
async function settled(gateway: Gateway): Promise<void> {
  const { nowMs, sleep } = gateway.clock;
  const untilMs = nowMs() + LAST_STEP_MS;
  const isBusy = () => gateway.runningCalls > 0 || gateway.background.running > 0;
  while (isBusy() && nowMs() < untilMs) await sleep(10);
}

/** A stop that hangs would be killed, and then without a message (H29). */
async function inTime(step: Promise<unknown>, { clock, log }: Gateway): Promise<void> {
  const late = () => new Error(`a part did not stop within ${LAST_STEP_MS} ms`);
  await withTimeout(step, LAST_STEP_MS, clock, late).catch((err: unknown) => {
    log.error({ err }, "stopped without waiting for it");
  });
}

/** Removes what has expired, now and every ten minutes. */
function sweepRegularly(
  { files, answers, objects, captures, refusals, unpriced, log, clock }: Gateway,
  operations: Operations,
): () => void {
  const sweep = () => {
    Promise.all([
      files.sweep(clock.nowMs()),
      operations.sweep(),
      answers.sweep(),
      objects.sweep(),
      captures.sweep(),
      refusals.sweep(),
      unpriced.sweep(),
    ]).catch((error: unknown) => {
      log.error({ err: error }, "cleanup of what has expired failed");
    });
  };
  sweep();
  return clock.every(SWEEP_MS, sweep);
}
