import { createHash, timingSafeEqual } from "node:crypto";
import { Admissions } from "./access/admit.ts";
import { KeyRing, type StaticKey } from "./access/key-ring.ts";
import { createKey, listKeys } from "./access/keys.ts";
import { DIALECT_NAMES } from "./canon/dialect-name.ts";
import { Secret } from "./canon/secret.ts";
import { buildCatalogue, type ProviderSummary } from "./catalogue/catalogue.ts";
import type { Config, ProviderSettings } from "./config/config.ts";
import { environmentProviders } from "./config/environment-providers.ts";
import { ConfigError, loadConfig } from "./config/load.ts";
import { watchConfig } from "./config/watch.ts";
import { Files } from "./files/files.ts";
import { openFileStore } from "./files/open-file-store.ts";
import { spentByKey } from "./ledger/queries.ts";
import { LedgerWriter } from "./ledger/writer.ts";
import type { Log } from "./observe/log.ts";
import { expectedCostOf } from "./operations/bill.ts";
import { Operations } from "./operations/operations.ts";
import { OperationPoller } from "./operations/poller.ts";
import { Reservations } from "./operations/reservations.ts";
import { Settlement } from "./operations/settlement.ts";
import { createProvider, PROVIDER_KINDS } from "./providers/index.ts";
import type { Provider } from "./providers/provider.ts";
import type { Gateway, Snapshot } from "./relay/gateway.ts";
import { makeId } from "./relay/ids.ts";
import { VideoJobs } from "./relay/media/video-jobs.ts";
import { DEFAULT_TIMINGS, type Timings } from "./relay/timings.ts";
import { Watchdog } from "./relay/watchdog.ts";
import { ADMIN_ROUTES } from "./server/admin/routes.ts";
import { listen } from "./server/listener.ts";
import type { ServerContext } from "./server/routed-request.ts";
import { ROUTES } from "./server/routes.ts";
import { SIMULATED_MODELS } from "./sim/models.ts";
import { type Simulator, startSimulator } from "./sim/simulator.ts";
import { openStorage } from "./storage/open.ts";
import { claimSetting, readSetting } from "./storage/settings.ts";
import type { Storage } from "./storage/storage.ts";
import { VERSION } from "./version.ts";
import { fetchMedia } from "./wire/media-fetch.ts";

export interface AppOptions {
  configPath?: string;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  log: Log;
  /** Shorter waits, for tests. */
  timings?: Partial<Timings>;
}

/** What the first start makes. It is told once and kept only as a digest. */
export interface FirstStart {
  apiKey?: string;
  adminSecret?: string;
}

export interface App {
  url: string;
  adminUrl: string;
  firstStart: FirstStart;
  models: number;
  /** Names of the providers that answer calls. */
  providers: readonly string[];
  reload(): void;
  stop(): Promise<void>;
}

const SIMULATOR = "simulator";

const SWEEP_MS = 600_000;

export function readConfig(options: Pick<AppOptions, "configPath" | "cwd" | "environment">): Config {
  return loadConfig({
    ...(options.configPath === undefined ? {} : { path: options.configPath }),
    cwd: options.cwd,
    environment: options.environment,
    kinds: new Map([...PROVIDER_KINDS].map(([kind, { fields }]) => [kind, fields])),
  });
}

/** Puts the program together and starts it. */
export async function startApp(options: AppOptions): Promise<App> {
  const { log, environment } = options;
  const config = readConfig(options);
  const storage = await openStorage(config.storage);
  const simulator = config.simulator ? await startSimulator() : undefined;
  const nowMs = () => performance.timeOrigin + performance.now();
  let { publicUrl } = config.server;
  const spent = await spentByKey(storage, Date.now());
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  const files = await Files.open({
    storage,
    store: await openFileStore(config.files, environment),
    publicUrl: () => publicUrl,
    makeId,
    limits: {
      retentionMs: config.retention.ms,
      maxFileBytes: config.retention.maxFileBytes,
      maxTotalBytes: config.retention.maxTotalBytes,
    },
  });
  const gateway: Gateway = {
    snapshot: makeSnapshot(config, environment, simulator),
    keys: await KeyRing.open({ storage, staticKeys: staticKeys(config), nowMs: Date.now }),
    admissions: new Admissions({ nowMs: Date.now, spent: (keyId, window) => spent.get(keyId)?.[window] ?? 0 }),
    ledger: new LedgerWriter({
      storage,
      onProblem: (error) => log.error({ err: error }, "the ledger could not be written"),
    }),
    watchdog: new Watchdog(nowMs),
    fetchMedia,
    files,
    log,
    nowMs,
    timings,
    runningCalls: 0,
  };
  const { operations, poller } = await makeOperations(gateway, storage, config.retention.ms);
  let accepting = true;
  const context: ServerContext = {
    gateway,
    storage,
    operations,
    accepting: () => accepting,
    healthy: () =>
      storage.query("SELECT 1").then(
        () => true,
        () => false,
      ),
    publicUrl: () => publicUrl,
    isAdmin: () => false,
    version: VERSION,
  };
  const bounds = { maxBodyBytes: config.server.maxBodyBytes, context };
  const server = listen({ ...config.server, ...bounds, routes: ROUTES });
  const admin = listen({ ...config.admin, publicUrl: `http://${config.admin.host}`, ...bounds, routes: ADMIN_ROUTES });

  // Only a gateway that holds its ports takes up work, or makes keys: a start that fails must leave nothing running, and must
  // not use up the one time that they are shown.
  poller.start();
  const firstStart = await makeFirstKeys(storage, config);
  context.isAdmin = await adminCheck(storage, config);
  await gateway.keys.refresh();
  const stopWatchingKeys = gateway.keys.startWatching();
  const stopSweeping = sweepRegularly(gateway, operations);

  const watch = watchConfig(
    () => readConfig(options),
    (changed) => {
      const snapshot = makeSnapshot(changed, environment, simulator);
      replaceKeysOrExplain(gateway.keys, changed);
      gateway.snapshot = snapshot;
      publicUrl = changed.server.publicUrl;
      log.info({ models: gateway.snapshot.catalogue.list().length }, "configuration reloaded");
    },
    (error) => log.error(`configuration not reloaded, the old one stays:\n${error.message}`),
  );

  return {
    url: server.url,
    adminUrl: admin.url,
    firstStart,
    models: gateway.snapshot.catalogue.list().length,
    providers: [...gateway.snapshot.providers.keys()],
    reload: () => watch.reload(),
    stop: async () => {
      accepting = false;
      watch.close();
      await server.drain(config.server.drainSeconds);
      await admin.drain(0);
      stopWatchingKeys();
      stopSweeping();
      await poller.stop();
      await gateway.ledger.close();
      await simulator?.stop();
      await storage.close();
    },
  };
}

/** Asynchronous jobs: what is still open goes on, and what it may cost is held again. */
async function makeOperations(
  gateway: Gateway,
  storage: Storage,
  keptMs: number,
): Promise<{ operations: Operations; poller: OperationPoller }> {
  const { nowMs, timings, log } = gateway;
  const owner = `process-${makeId()}`;
  const reservations = new Reservations((keyId, costNanoUsd) => gateway.admissions.hold(keyId, costNanoUsd));
  const settlement = new Settlement({
    storage,
    nowMs,
    keptMs,
    onSettled: (operation, costNanoUsd) => reservations.settle(operation, costNanoUsd),
    held: () => reservations.held,
  });
  const poller = new OperationPoller({
    storage,
    runner: new VideoJobs(gateway),
    settlement,
    owner,
    nowMs,
    leaseMs: timings.operationLeaseMs,
    onProblem: (error) => log.error({ err: error }, "an operation could not be brought on"),
  });
  const operations = new Operations({
    storage,
    settlement,
    poller,
    owner,
    nowMs,
    leaseMs: timings.operationLeaseMs,
    keptMs,
    reserve: (operation, costNanoUsd) => reservations.add(operation, costNanoUsd),
  });
  for (const operation of await operations.open()) reservations.add(operation, expectedCostOf(operation));
  return { operations, poller };
}

/** Forgets what is past its time, now and every ten minutes. */
function sweepRegularly({ files, log, nowMs }: Gateway, operations: Operations): () => void {
  const sweep = () => {
    Promise.all([files.sweep(nowMs()), operations.sweep()]).catch((error: unknown) => {
      log.error({ err: error }, "what is past its time could not be removed");
    });
  };
  sweep();
  const timer = setInterval(sweep, SWEEP_MS);
  return () => clearInterval(timer);
}

/** The configuration's view of the world, built whole before anything sees it. */
export function makeSnapshot(
  config: Config,
  environment: AppOptions["environment"],
  simulator: Pick<Simulator, "url"> | undefined,
): Snapshot {
  const settings = config.providers.length > 0 ? config.providers : providersFromEnvironment(environment);
  const all = simulator ? [...settings, simulatorSettings(simulator.url)] : settings;
  const providers = new Map(all.map((one) => [one.name, createOrExplain(one, config.file)]));
  const summaries = [...providers.values()].map((provider): ProviderSummary => {
    const { name, publishers } = provider;
    return name === SIMULATOR ? { name, publishers: ["sim"], models: simulatedModels() } : { name, publishers };
  });
  return {
    catalogue: buildCatalogue({ providers: summaries, models: config.models }),
    providers,
    maxBodyBytes: config.server.maxBodyBytes,
  };
}

/** What only shows when a provider is made, such as a file of credentials that is not there, is a mistake of the configuration. */
function createOrExplain(settings: ProviderSettings, file: string | undefined): Provider {
  try {
    return createProvider(settings);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `providers.${settings.name}: ${why}`;
    throw new ConfigError([{ file: file ?? "environment", line: 1, column: 1, message }]);
  }
}

function providersFromEnvironment(environment: AppOptions["environment"]): ProviderSettings[] {
  const known = [...PROVIDER_KINDS.values()].flatMap(({ kind, variables }) => (variables ? [{ kind, variables }] : []));
  return environmentProviders(environment, known);
}

const simulatorSettings = (url: string): ProviderSettings => {
  return { name: SIMULATOR, kind: SIMULATOR, baseUrl: url, apiKey: new Secret("simulated") };
};

function simulatedModels(): NonNullable<ProviderSummary["models"]> {
  const models = SIMULATED_MODELS.map(({ name, ...facts }) => ({
    ...facts,
    id: `sim/${name}`,
    upstreamModel: name,
    kind: "text" as const,
    pricings: SIMULATED_PRICES,
  }));
  // The simulator speaks every protocol: a model that speaks one alone lets clients of the others try the translation.
  const single = models.slice(0, 1).flatMap(({ id, displayName, ...standard }) =>
    DIALECT_NAMES.map((dialect) => ({
      ...standard,
      id: `${id}-${dialect}`,
      displayName: `${displayName} (${dialect} alone)`,
      dialect,
    })),
  );
  return [...models, ...single, ...SIMULATED_MEDIA];
}

/** Made up, so that receipts and budgets can be tried out. */
const SIMULATED_PRICES = {
  prompt: [{ value: 1, unit: "perMTokens" as const, currency: "USD" as const }],
  completion: [{ value: 2, unit: "perMTokens" as const, currency: "USD" as const }],
  input_cache_read: [{ value: 0.1, unit: "perMTokens" as const, currency: "USD" as const }],
};

const usd = (value: number, unit: "perCount" | "perSecond") => [{ value, unit, currency: "USD" as const }];

/** Pictures and films that show what was asked for. */
const SIMULATED_MEDIA: NonNullable<ProviderSummary["models"]> = [
  {
    id: "sim/picture",
    upstreamModel: "picture",
    displayName: "Simulator Picture",
    description: "A simulator, not a model: draws pictures that show the prompt, the size and the seed.",
    inputModalities: ["text", "image"],
    outputModalities: ["image"],
    reasoning: false,
    kind: "image",
    pricings: { image: usd(0.01, "perCount") },
  },
  {
    id: "sim/film",
    upstreamModel: "film",
    displayName: "Simulator Film",
    description: "A simulator, not a model: makes films that show the prompt, the size and the time.",
    inputModalities: ["text", "image"],
    outputModalities: ["video", "audio"],
    reasoning: false,
    kind: "video",
    pricings: { video: usd(0.01, "perSecond"), audio_and_video: usd(0.02, "perSecond") },
  },
];

function staticKeys(config: Config): StaticKey[] {
  return config.keys.map(({ key, expiresAt, ...rest }) => ({
    ...rest,
    key: key.reveal(),
    ...(expiresAt === undefined ? {} : { expiresAtMs: Date.parse(expiresAt) }),
  }));
}

/** A key that cannot be used is a mistake of the configuration; the keys of before stay (H25). */
function replaceKeysOrExplain(keys: KeyRing, config: Config): void {
  try {
    keys.replaceStatic(staticKeys(config));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError([{ file: config.file ?? "trivium.yaml", line: 1, column: 1, message: `keys: ${why}` }]);
  }
}

/** Where no key exists anywhere, the first start makes one, so that the printed line works when pasted. */
async function makeFirstKeys(storage: Storage, config: Config): Promise<FirstStart> {
  const first: FirstStart = {};
  if (config.keys.length === 0 && (await listKeys(storage)).length === 0) {
    first.apiKey = (await createKey(storage, { name: "first", project: "default" })).key;
  }
  if (!config.admin.secret && (await readSetting(storage, ADMIN_DIGEST)) === undefined) {
    const secret = `trv-admin-${makeId()}${makeId()}`;
    // Of two instances that start at once, one wins; the other must not print a secret that opens nothing.
    if ((await claimSetting(storage, ADMIN_DIGEST, digest(secret))) === digest(secret)) first.adminSecret = secret;
  }
  return first;
}

const ADMIN_DIGEST = "admin_secret_sha256";
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** Closed unless a secret is known (S08). */
async function adminCheck(storage: Storage, config: Config): Promise<(presented: string) => boolean> {
  const wanted = config.admin.secret ? digest(config.admin.secret.reveal()) : await readSetting(storage, ADMIN_DIGEST);
  if (!wanted) return () => false;
  return (presented) => timingSafeEqual(Buffer.from(digest(presented)), Buffer.from(wanted));
}
