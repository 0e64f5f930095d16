import { OperatorAccess } from "../access/operator-access.ts";
import type { Alerts } from "../alerts/alerts.ts";
import { readKeyFile } from "../answers/key-file.ts";
import type { Random, Sources } from "../base/sources.ts";
import type { EndedBatch } from "../batches/batch.ts";
import { BatchRunner } from "../batches/batch-runner.ts";
import { LinePace } from "../batches/line-pace.ts";
import { NativeRunner } from "../batches/native-runner.ts";
import type { Config } from "../config/config.ts";
import { Exports } from "../exports/exports.ts";
import type { FileStore } from "../files/file-store.ts";
import { openFileStore } from "../files/open-file-store.ts";
import { issuerFetch } from "../identity/issuer-fetch.ts";
import { OidcLogin } from "../identity/oidc-login.ts";
import { Questions } from "../instances/questions.ts";
import { Leases } from "../leases/leases.ts";
import { ObjectContent } from "../objects/object-content.ts";
import type { Log } from "../observe/log.ts";
import type { Registry } from "../providers/registry.ts";
import { ProviderJobs } from "../relay/batch/provider-jobs.ts";
import { CacheKeeper } from "../relay/caches/keep-caches.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { Timings } from "../relay/settle/timings.ts";
import { answerOperators } from "../server/admin/running/answer-operators.ts";
import { BATCH_FORMS } from "../server/batches/batch-forms.ts";
import { BatchLineWork } from "../server/batches/line-work.ts";
import { LiveSessions } from "../server/live/live-sessions.ts";
import type { ServerContext } from "../server/routed-request.ts";
import { routesOf } from "../server/routes.ts";
import type { Siblings } from "../storage/changes.ts";
import type { Storage } from "../storage/storage.ts";
import { LoopLag } from "../telemetry/loop-lag.ts";
import { VERSION } from "../version.ts";
import { createConnect } from "../wire/connect.ts";
import { fetchMedia, streamMedia } from "../wire/media-fetch.ts";
import { createSend } from "../wire/send.ts";
import { ConfigHistory } from "./admin-config.ts";
import { readCatalogue, type StoredCatalogue } from "./catalogue/catalogue-updates.ts";
import { followCatalogue } from "./catalogue/follow-catalogue.ts";
import type { Joined } from "./check-others.ts";
import { gatewayCondition, partConditions } from "./gateway-condition.ts";
import type { InstanceHeartbeat } from "./instance-heartbeat.ts";
import { instanceSpending } from "./instance-spending.ts";
import type { Journals } from "./journals.ts";
import type { LimitSharing } from "./limit-sharing.ts";
import { makeAlerts } from "./make-alerts.ts";
import { makeGateway } from "./make-gateway.ts";
import { makeOperations } from "./make-operations.ts";
import { makeTelemetry } from "./make-telemetry.ts";
import { collectMetrics } from "./metrics/collect.ts";
import type { MetricsOfWorkers } from "./metrics/merge-workers.ts";
import { hasEnded } from "./process-name.ts";
import { type ConfigSource, readConfig } from "./read-config.ts";
import { makeSnapshot, type SimulatorAccess } from "./snapshot.ts";
import { spentAt } from "./spending/spent-at.ts";
import { telemetrySettings } from "./telemetry-settings.ts";
import { BudgetWatch } from "./watch-budgets.ts";
import { ObjectWatch } from "./watch-objects.ts";

interface Given extends ConfigSource {
  instance: string;
  sources: Sources;
  log: Log;
  registry: Registry;
  timings: Timings;
  storage: Storage;
  fileStore: FileStore;
  journals: Journals;
  heartbeat: InstanceHeartbeat;
  joined: Joined;
  sharing: LimitSharing | undefined;
  simulator: SimulatorAccess | undefined;
  siblings?: Siblings | undefined;
  metrics?: MetricsOfWorkers;
}

/** State that changes while the program runs. */
interface RunState {
  phase: "starting" | "running" | "draining";
  /** Whether new calls are accepted. */
  accepting: boolean;
  /** How clients reach the gateway. */
  publicUrl: string;
  /** Undefined until it is read: the Admin API is closed until then. */
  adminHash: string | undefined;
  /** The built-in models with their updates. */
  catalogue: StoredCatalogue;
}

/** Creates everything that the program runs with. It reads the storage and starts nothing. */
export async function assemble(config: Config, given: Given) {
  const { instance, sources, log, environment, registry, timings, storage, journals, heartbeat, sharing } = given;
  const { clock, random } = sources;
  const { publicUrl } = config.server;
  const catalogue = await readCatalogue(storage);
  const state: RunState = { phase: "starting", accepting: true, publicUrl, adminHash: undefined, catalogue };
  const snapshotOf = (config: Config) =>
    makeSnapshot(config, environment, sources, given.simulator, registry, state.catalogue);
  const leases =
    sharing &&
    new Leases({
      source: sharing.source,
      clock,
      instance,
      leaseMs: timings.limitLeaseMs,
      ...given.joined,
      journal: { folder: await journals.folderName(), isBehind: () => gateway.ledger.isBehind },
      spent: instanceSpending({ storage, recover: () => journals.recover() }),
      onTrouble: (err) => {
        if (err === undefined) log.info("limits are shared among instances again");
        else
          log.error(
            { err },
            "limits are no longer shared among instances: this instance uses the share that it already holds",
          );
      },
    });
  const settings = telemetrySettings(config, environment, (message) => log.warn(message));
  const telemetry = settings && makeTelemetry(settings, { sources, log, instance, collect: () => metrics.own() });
  const gateway: Gateway = await makeGateway(config, {
    instance,
    leases,
    clock,
    random,
    send: createSend(clock),
    connect: createConnect(),
    fetchMedia: (url, options) => fetchMedia(url, { ...options, clock }),
    streamMedia: (url, options) => streamMedia(url, { ...options, clock }),
    log,
    timings,
    publicUrl: () => state.publicUrl,
    snapshot: snapshotOf(config),
    storage,
    fileStore: given.fileStore,
    fetchIssuer: issuerFetch,
    journal: journals.own,
    siblings: given.siblings,
    answerKey: answerKeyOf(config, random, log),
    tracing: telemetry?.tracing,
    alsoCount: telemetry?.genAi && ((receipt) => telemetry.genAi?.count(receipt, systemOf(gateway, receipt.provider))),
  });
  const { operations, poller } = await makeOperations(gateway, storage, config.retention.ms);
  const cacheKeeper = new CacheKeeper(gateway);
  await cacheKeeper.holdAll();
  const { changes, ledger } = gateway;
  const condition = () => gatewayCondition({ phase: state.phase, changes, ledger, heartbeat, leases });
  const live = new LiveSessions(clock);
  const questions = new Questions({
    storage,
    clock,
    instance,
    hasOthers: leases !== undefined,
    hasEnded,
    seen: () => heartbeat.others,
    onAsked: () => given.siblings?.catchUp("storage"),
    onProblem: (err) => log.warn({ err }, "failed to ask the other processes, or to answer them"),
  });
  answerOperators(questions, gateway, live);
  changes.follow({ name: "questions", read: (stamp) => questions.heard(stamp.questions) });
  heartbeat.runningCalls = () => gateway.runningCalls;
  const others = () => {
    const running = heartbeat.others.map(({ runningCalls }) => runningCalls);
    return { instances: running.length, runningCalls: running.reduce((sum, calls) => sum + calls, 0) };
  };
  const context: ServerContext = {
    dialects: registry.dialects,
    gateway,
    storage,
    operations,
    live,
    accepting: () => state.accepting,
    draining: () => state.phase === "draining",
    condition,
    publicUrl: () => state.publicUrl,
    version: VERSION,
  };
  const batchWork = new BatchLineWork({
    context,
    routes: routesOf(registry.dialects),
    assumedOutputTokens: config.batch.assumedOutputTokens,
  });
  const batchOptions = {
    ...sources,
    instance,
    storage,
    content: new ObjectContent({ storage, store: given.fileStore, random }),
    mode: config.batch.mode,
    outcomes: { succeeded: 0, failed: 0 },
    maxLineBytes: config.server.maxBodyBytes,
    retentionMs: gateway.uploads.limits.retentionMs,
    processes: () => leases?.instances ?? 1,
    pace: new LinePace({ clock, max: config.batch.maxConcurrent, runningCalls: () => gateway.runningCalls }),
    leaseMs: timings.batchLeaseMs,
    onProblem: (err: unknown, what: string) => log.error({ err }, what),
    onEnded: ({ id, project, state, errors }: EndedBatch) =>
      log.info({ batch: id, project, state, errors }, "batch ended"),
  };
  const nativeRunner = new NativeRunner({
    ...batchOptions,
    lines: batchWork,
    jobs: new ProviderJobs(gateway, storage),
    lookupMs: timings.batchLookupMs,
    onWork: () => batchRunner.wake(),
    onSubmitted: ({ id, provider, lines }) =>
      log.info({ batch: id, provider, lines }, "batch submitted to its provider"),
    onReturned: ({ id, provider, reason }) =>
      log.warn({ batch: id, provider, reason }, "provider did not take a batch; the gateway runs it"),
    onOrphaned: ({ id, provider, providerId, lines }) =>
      log.error(
        { batch: id, provider, provider_batch: providerId, lines },
        "gave up a batch whose credential is not configured; its provider may bill up to this many requests",
      ),
    onOddities: ({ id, ...odd }) => log.warn({ batch: id, ...odd }, "results of a batch do not match its lines"),
  });
  const batchRunner = new BatchRunner({
    ...batchOptions,
    forms: BATCH_FORMS,
    work: batchWork,
    native: nativeRunner,
    maxConcurrent: config.batch.maxConcurrent,
    onHeld: (ids) =>
      log.warn(
        { batches: ids },
        "batches are held, because the database was restored from a copy: `trivium batches release` lets them run, `trivium batches cancel` ends one",
      ),
  });
  gateway.batches.onWork = () => {
    batchRunner.wake();
    nativeRunner.wake();
  };
  gateway.batches.onPoll = (id) => nativeRunner.poll(id);
  const alerts = makeAlerts(config, { gateway, storage, sources, condition });
  const budgets = watchBudgets(gateway, storage, alerts);
  const objectWatch = new ObjectWatch({
    storage,
    clock,
    onProblem: (err) => log.warn({ err }, "failed to count the objects of clients"),
  });
  const exports = new Exports({
    ...sources,
    storage,
    settings: config.exports,
    instance,
    leaseMs: timings.exportLeaseMs,
    open: ({ to, name }, names) => openFileStore(to, environment, sources, { field: `exports.${name}`, names }),
    onFile: (file) => log.info(file, "receipts exported"),
    onForgotten: (name) => log.warn({ export: name }, "an export is no longer configured; its progress was deleted"),
    onProblem: (err, what) => log.warn({ err }, what),
  });
  const history = new ConfigHistory({
    started: config,
    read: (text) => readConfig({ ...given, text, catalogue: state.catalogue }),
    build: snapshotOf,
    wallMs: clock.wallMs,
  });
  followCatalogue({ gateway, storage, state, history, snapshotOf });
  const lag = new LoopLag();
  const metrics = collectMetrics({
    gateway,
    live,
    condition,
    config: history,
    budgets,
    alerts,
    objects: objectWatch,
    exports,
    lineOutcomes: batchOptions.outcomes,
    lag,
    workers: given.metrics,
    exporter: telemetry?.exporter,
  });
  const oidc = new OidcLogin({
    ...sources,
    fetch: issuerFetch,
    log,
    publicUrl: config.admin.publicUrl,
    settings: config.admin.oidc,
  });
  const access = new OperatorAccess({
    ...sources,
    storage,
    adminHash: () => state.adminHash,
    people: () => oidc.people,
  });
  const adminParts = () => partConditions({ ...gateway, heartbeat, leases });
  const parts = {
    gateway,
    leases,
    telemetry,
    operations,
    poller,
    batchRunner,
    cacheKeeper,
    nativeRunner,
    alerts,
    budgets,
    objectWatch,
    exports,
    lag,
    metrics,
    access,
    oidc,
    adminParts,
    questions,
    others,
  };
  return { ...parts, config, storage, journals, registry, state, context, history, snapshotOf };
}

export type Assembled = Awaited<ReturnType<typeof assemble>>;

const watchBudgets = (gateway: Gateway, storage: Storage, alerts: Alerts): BudgetWatch =>
  new BudgetWatch({
    clock: gateway.clock,
    levels: () => gateway.keys.levels(),
    spent: (asOfMs) => spentAt(storage, asOfMs, gateway.keys.levels()),
    onProblem: (err) => gateway.log.warn({ err }, "failed to read the remaining budgets"),
    onLook: (uses, asOfMs) => {
      void alerts.tellBudgets(uses, asOfMs);
      // Budgets depend on what other processes have seen.
      if (uses.length > 0) void gateway.unpriced.read();
    },
  });

/** As OpenTelemetry's conventions call a provider. */
const systemOf = ({ snapshot }: Gateway, provider: string): string =>
  snapshot.providers.get(provider)?.[0]?.systemName ?? "_OTHER";

/** Without a key nothing is stored; calls are answered all the same. */
function answerKeyOf({ dataDir }: Config, random: Random, log: Log): Uint8Array | undefined {
  try {
    return readKeyFile(dataDir, random);
  } catch (err) {
    log.error(
      { err },
      "responses and bodies are not stored: their encryption key can be neither read from data_dir nor created there",
    );
    return undefined;
  }
}
