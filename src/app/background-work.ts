import type { Cancel } from "../base/clock.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import type { Operations } from "../operations/operations.ts";
import { buryAbandonedAnswers } from "../relay/background.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { Storage } from "../storage/storage.ts";
import type { Assembled } from "./assemble.ts";
import { deleteOldReceiptsRegularly } from "./delete-old-receipts.ts";
import { deleteSettledRegularly } from "./delete-settled-intents.ts";
import { spentAt } from "./make-gateway.ts";
import { rollUpRegularly } from "./roll-up-regularly.ts";
import { shareNews } from "./share-news.ts";
import { watchClock } from "./watch-clock.ts";

const SWEEP_MS = 600_000;

/**
 * What runs next to calls, in the order of its start: the name of each part, and its start, which returns what stops it.
 * `clockEveryMs` is how often the clock is looked at; the program's own interval where it is undefined.
 */
export function backgroundWork(
  { config, gateway, storage, operations, journals, leases, budgets, alerts, lag, context }: Assembled,
  clockEveryMs: number | undefined,
): readonly [name: string, start: () => Cancel | undefined][] {
  const { keys, sharedLimits, clock, log } = gateway;
  const tools = { storage, clock, log };
  return [
    ["key watch", () => keys.startWatching()],
    ["budget watch", () => budgets.start()],
    ["alert deliveries", () => alerts.start()],
    ["event loop lag", () => lag.watch(clock)],
    ["clock watch", () => watchSteps(gateway, storage, clockEveryMs)],
    ["shared limits", () => sharedLimits?.watch()],
    ["instance news", () => leases && shareNews(gateway, leases)],
    ["sweep", () => sweepRegularly(gateway, operations)],
    ["receipt retention", () => deleteOldReceiptsRegularly(config.ledger, tools)],
    ["intent cleanup", () => deleteSettledRegularly(config.ledger, tools)],
    ["receipt roll-up", () => rollUpRegularly(tools)],
    ["journal recovery", () => journals.watch()],
    ["abandoned responses", () => buryRegularly(gateway, context.dialects)],
  ];
}

/** What was spent on the day that the clock shows is read again when the clock was set. */
function watchSteps({ clock, log, admissions }: Gateway, storage: Storage, everyMs: number | undefined): Cancel {
  return watchClock({
    clock,
    onStep: (byMs) => {
      const way = byMs > 0 ? "forward" : "back";
      log.warn(
        { seconds: Math.round(byMs / 1000) },
        `the system clock jumped ${way}: it was adjusted, or the machine was suspended`,
      );
      const asOfMs = clock.wallMs();
      spentAt(storage, asOfMs).then(
        (spent) => admissions.learn(spent, asOfMs),
        (err: unknown) => log.error({ err }, "failed to read the spending of the current day"),
      );
    },
    ...(everyMs === undefined ? {} : { everyMs }),
  });
}

/** Removes what has expired, now and every ten minutes. */
function sweepRegularly(
  { files, answers, objects, captures, refusals, unpriced, log, clock }: Gateway,
  operations: Operations,
): Cancel {
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
      log.error({ err: error }, "failed to delete expired data");
    });
  };
  sweep();
  return clock.every(SWEEP_MS, sweep);
}

const buryRegularly = (gateway: Gateway, dialects: DialectRegistry): Cancel =>
  gateway.clock.every(gateway.timings.operationLeaseMs / 2, () => {
    buryAbandonedAnswers(gateway, dialects).catch((err: unknown) => {
      gateway.log.error({ err }, "failed to end the responses of stopped processes");
    });
  });
