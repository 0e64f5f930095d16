import type { Cancel, Clock } from "../base/clock.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Config } from "../config/config.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import type { Exports } from "../exports/exports.ts";
import { deleteOldReceipts, deleteSettled } from "../ledger/retention.ts";
import { rollUpBehind } from "../ledger/roll-up-before.ts";
import type { Log } from "../observe/log.ts";
import type { Operations } from "../operations/operations.ts";
import { buryAbandonedAnswers } from "../relay/background.ts";
import type { CacheKeeper } from "../relay/caches/keep-caches.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { Storage } from "../storage/storage.ts";
import type { Assembled } from "./assemble.ts";
import { shareInstanceNews } from "./instance-news.ts";
import { spentAt } from "./spending/spent-at.ts";
import { watchClock } from "./watch-clock.ts";

const SWEEP_MS = 600_000;

/**
 * Background work in the order in which it starts: the name of each part, and a function that starts it and returns how to
 * stop it. `clockEveryMs` is how often the clock is checked; undefined for the default.
 */
export function backgroundWork(
  made: Assembled,
  clockEveryMs: number | undefined,
): readonly [name: string, start: () => Cancel | undefined][] {
  const {
    config,
    gateway,
    storage,
    operations,
    cacheKeeper,
    journals,
    leases,
    budgets,
    objectWatch,
    exports,
    alerts,
    lag,
    context,
  } = made;
  const { changes, sharedLimits, clock, log } = gateway;
  const tools = { storage, clock, log };
  return [
    ["changes", () => changes.start()],
    ["budget watch", () => budgets.start()],
    ["object watch", () => objectWatch.start()],
    ["alert deliveries", () => alerts.start()],
    ["event loop lag", () => lag.watch(clock)],
    ["clock watch", () => watchSteps(gateway, storage, clockEveryMs)],
    ["shared limits", () => sharedLimits?.watch()],
    ["instance news", () => leases && shareInstanceNews(gateway, leases)],
    ["sweep", () => sweepRegularly(gateway, operations)],
    ["caches", () => keepCachesRegularly(cacheKeeper, tools)],
    ["exports", () => startExports(exports)],
    ["files at providers", () => sweepProvidersRegularly(gateway)],
    ["receipt retention", () => deleteOldReceiptsRegularly(config.ledger, tools)],
    ["intent cleanup", () => deleteSettledRegularly(config.ledger, tools)],
    ["receipt roll-up", () => rollUpRegularly(tools)],
    ["journal recovery", () => journals.watch()],
    ["abandoned responses", () => buryRegularly(gateway, context.dialects)],
  ];
}

/** After the clock was set, the spending of the current day is read again. */
function watchSteps({ clock, log, admissions, keys }: Gateway, storage: Storage, everyMs: number | undefined): Cancel {
  return watchClock({
    clock,
    onStep: (byMs) => {
      const way = byMs > 0 ? "forward" : "back";
      log.warn(
        { seconds: Math.round(byMs / 1000) },
        `the system clock jumped ${way}: it was adjusted, or the machine was suspended`,
      );
      const asOfMs = clock.wallMs();
      spentAt(storage, asOfMs, keys.levels()).then(
        (spent) => admissions.learn(spent, asOfMs),
        (err: unknown) => log.error({ err }, "failed to read the spending of the current day"),
      );
    },
    ...withoutAbsent({ everyMs }),
  });
}

/** Removes expired data, now and every ten minutes. */
function sweepRegularly(
  { files, answers, answerCache, objects, captures, refusals, unpriced, log, clock }: Gateway,
  operations: Operations,
): Cancel {
  const sweep = () => {
    Promise.all([
      files.sweep(clock.nowMs()),
      operations.sweep(),
      answers.sweep(),
      answerCache.sweep(),
      objects.sweep(),
      captures.sweep(),
      refusals.sweep(),
      unpriced.sweep(),
    ]).catch((error: unknown) => {
      log.error({ err: error }, "failed to delete expired data");
    });
  };
  sweep();
  return clock.every(SWEEP_MS, sweep);
}

/** Runs end early; the next start continues them. */
function startExports(exports: Exports): () => Promise<void> {
  const cancel = exports.start();
  return () => {
    cancel();
    return exports.stop();
  };
}

const CACHES_MS = 30_000;

/** Ends caches that have expired or whose key may not spend any more, and looks whether their providers still have the others. */
function keepCachesRegularly(keeper: CacheKeeper, { clock, log }: { clock: Clock; log: Log }): Cancel {
  const run = () => {
    keeper.run().catch((err: unknown) => log.error({ err }, "failed to look after caches"));
  };
  run();
  return clock.every(CACHES_MS, run);
}

const PROVIDER_FILES_MS = 10_000;

/** Deletes files at providers whose objects are gone. */
function sweepProvidersRegularly(gateway: Gateway): Cancel {
  const run = () => {
    gateway.filesAtProviders
      .sweep(gateway.snapshot.providers)
      .catch((err: unknown) => gateway.log.error({ err }, "failed to delete files at providers"));
  };
  run();
  gateway.objects.onDeleted = run;
  return gateway.clock.every(PROVIDER_FILES_MS, run);
}

const buryRegularly = (gateway: Gateway, dialects: DialectRegistry): Cancel =>
  gateway.clock.every(gateway.timings.operationLeaseMs / 2, () => {
    buryAbandonedAnswers(gateway, dialects).catch((err: unknown) => {
      gateway.log.error({ err }, "failed to end the responses of stopped processes");
    });
  });

const RETENTION_MS = 600_000;

/** Deletes receipts older than the configured retention, now and every ten minutes. */
function deleteOldReceiptsRegularly(
  { retentionDays }: Config["ledger"],
  { storage, clock, log }: { storage: Storage; clock: Clock; log: Log },
): () => void {
  if (retentionDays === undefined) return () => {};
  let isStopping = false;
  let isRunning = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      const deleted = await deleteOldReceipts({ storage, clock, retentionDays, isStopping: () => isStopping });
      if (deleted > 0) log.info({ receipts: deleted }, "deleted old receipts; their totals are kept");
    } catch (err) {
      log.error({ err }, "failed to delete old receipts");
    }
    isRunning = false;
  };
  void run();
  const cancel = clock.every(RETENTION_MS, () => void run());
  return () => {
    isStopping = true;
    cancel();
  };
}

/** Often enough to keep each deletion short. */
const INTENTS_MS = 5_000;
/** While intents are disabled: an earlier configuration may have left some. */
const IDLE_INTENTS_MS = 600_000;

/** Deletes intents that have a receipt. Totals and pages ignore them, so the time does not matter. */
function deleteSettledRegularly(
  { intents }: { intents: boolean },
  { storage, clock, log }: { storage: Storage; clock: Clock; log: Log },
): Cancel {
  let isRunning = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    await deleteSettled(storage, clock).catch((err: unknown) => log.error({ err }, "failed to delete settled intents"));
    isRunning = false;
  };
  return clock.every(intents ? INTENTS_MS : IDLE_INTENTS_MS, () => void run(), { background: true });
}

const ROLL_UP_MS = 2_000;

/** Rolls receipts up some seconds after they are written. PostgreSQL does so itself, with a trigger. */
function rollUpRegularly({ storage, clock, log }: { storage: Storage; clock: Clock; log: Log }): () => void {
  if (storage.engine === "postgres") return () => {};
  let isRunning = false;
  let isStopping = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await rollUpBehind(storage, clock.wallMs(), () => isStopping);
    } catch (err) {
      log.error({ err }, "failed to roll up receipts; will retry later");
    }
    isRunning = false;
  };
  const cancel = clock.every(ROLL_UP_MS, () => void run());
  return () => {
    isStopping = true;
    cancel();
  };
}
