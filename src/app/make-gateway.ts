import { fullGC } from "bun:jsc";
import { Admissions } from "../access/admit.ts";
import { KeyRing } from "../access/key-ring.ts";
import type { Level } from "../access/level.ts";
import { SharedLimits } from "../access/shared-limits.ts";
import { AnswerCache } from "../answers/answer-cache.ts";
import { Answers } from "../answers/answers.ts";
import { Sealer } from "../answers/sealer.ts";
import { StoredConversations } from "../answers/stored-conversations.ts";
import { BufferPool } from "../base/byte-buffer.ts";
import { Batches } from "../batches/batches.ts";
import type { Receipt } from "../canon/receipt.ts";
import { Captures } from "../capture/captures.ts";
import type { Config } from "../config/config.ts";
import { SealedOrigins } from "../dialects/answer/sealed-origins.ts";
import type { FileStore } from "../files/file-store.ts";
import { Files } from "../files/files.ts";
import type { IssuerFetch } from "../identity/issuer.ts";
import { IssuerTokens } from "../identity/issuer-tokens.ts";
import type { Leases } from "../leases/leases.ts";
import type { Journal } from "../ledger/journal.ts";
import { Refusals } from "../ledger/refusals.ts";
import { UnpricedUses } from "../ledger/unpriced-uses.ts";
import { LedgerWriter } from "../ledger/writer.ts";
import { Caches } from "../objects/caches.ts";
import { ObjectContent } from "../objects/object-content.ts";
import { Objects } from "../objects/objects.ts";
import { PartialUploads } from "../objects/partial-uploads.ts";
import { UploadedFiles } from "../objects/uploaded-files.ts";
import { EventHub } from "../observe/event-hub.ts";
import type { Log } from "../observe/log.ts";
import { BackgroundLeases } from "../operations/background-leases.ts";
import { BackgroundEvents } from "../relay/answer/background-events.ts";
import { Watchdog } from "../relay/attempt/watchdog.ts";
import { FilesAtProviders } from "../relay/files/files-at-providers.ts";
import type { Gateway } from "../relay/gateway.ts";
import { MemoryBudget } from "../relay/request/memory-budget.ts";
import { RunningCalls } from "../relay/running-calls.ts";
import { Conversations } from "../routing/conversations.ts";
import { Health, type HealthChange } from "../routing/health/health.ts";
import { Slots } from "../routing/slots.ts";
import { Changes, type Siblings } from "../storage/changes.ts";
import type { Storage } from "../storage/storage.ts";
import { CallMetrics } from "../telemetry/call-metrics.ts";
import { spentAt } from "./spending/spent-at.ts";
import { storedEndUsers } from "./spending/stored-end-users.ts";
import { staticKeys } from "./static-keys.ts";

/** What the gateway depends on: the machine, the network, the disk and the log. */
interface GatewaySurroundings
  extends Pick<
    Gateway,
    | "instance"
    | "clock"
    | "random"
    | "send"
    | "connect"
    | "fetchMedia"
    | "streamMedia"
    | "log"
    | "timings"
    | "publicUrl"
    | "snapshot"
    | "tracing"
  > {
  storage: Storage;
  fileStore: FileStore;
  /** Absent: receipts that cannot be stored wait only in memory. */
  journal?: Journal | undefined;
  /** Absent: limits are not shared with other processes. */
  leases?: Leases | undefined;
  /** The other processes of this gateway on this machine; absent if it runs alone. */
  siblings?: Siblings | undefined;
  /** Also counts receipts for the metrics. */
  alsoCount?: ((receipt: Receipt) => void) | undefined;
  /** Sends to the issuers of clients' tokens. */
  fetchIssuer: IssuerFetch;
  /** Seals stored answers and captured bodies; without it none are stored. */
  answerKey: Uint8Array | undefined;
}

/** Everything that calls need, built from a configuration. It starts no background work. */
export async function makeGateway(config: Config, surroundings: GatewaySurroundings): Promise<Gateway> {
  const { storage, fileStore, journal, leases, siblings, alsoCount, answerKey, fetchIssuer, ...given } = surroundings;
  const { clock, random, log, publicUrl, timings } = given;
  const events = new EventHub();
  const verifier = new IssuerTokens({
    clock,
    fetch: fetchIssuer,
    onTrouble: (issuer, reason) => log.warn({ issuer, reason }, "tokens of clients cannot be checked"),
  });
  verifier.reconfigure(config.auth.jwt);
  const keys = await KeyRing.open({
    storage,
    verifier,
    staticKeys: staticKeys(config),
    limits: config.limits,
    partLimits: config.partLimits,
    clock,
    random,
    onProblem: (error) => log.error({ err: error }, "failed to read an API key"),
  });
  const changes = new Changes({ storage, clock, siblings, onTrouble: (name, err) => logTrouble(log, name, err) });
  changes.follow({ name: "API keys", read: (stamp) => keys.read(stamp), tend: () => keys.tend() });
  keys.lookUp = () => changes.lookUp();
  const content = new ObjectContent({ storage, store: fileStore, random });
  const objects = new Objects({ storage, content, clock });
  const uploading = { storage, clock, random, content, objects, limits: config.objects };
  const uploads = new UploadedFiles(uploading);
  const sealer = answerKey === undefined ? undefined : new Sealer(answerKey, random);
  const storing = {
    storage,
    sealer: config.responses.store ? sealer : undefined,
    clock,
    onProblem: (err: unknown, what: string) => log.error({ err }, what),
  };
  const storedConversations = new StoredConversations({ ...storing, random, objects, limits: config.objects });
  const ledger = new LedgerWriter({
    storage,
    clock,
    journal,
    inFlight: () => gateway.runningCalls,
    onBehind: () => leases?.tellBehind(),
    onProblem: (error) => log.error({ err: error }, "failed to write receipts"),
    written: async () => void (await log.flush()),
  });
  const sharedLimits = leases && new SharedLimits({ leases, clock });
  const admissions = new Admissions({
    nowMs: clock.nowMs,
    wallMs: clock.wallMs,
    spent: await spentAt(storage, clock.wallMs(), keys.levels()),
    ...(sharedLimits && { shareOf: sharedLimits.shareOf }),
    endUsers: {
      store: storedEndUsers({
        storage,
        instance: given.instance,
        makerOf: (keyId) => keys.makerOf(keyId)?.keyId,
        oldestMs: () => ledger.oldestMs,
      }),
      shareOf: sharedLimits?.shareOfEndUser,
    },
  });
  const unpriced = new UnpricedUses({
    storage,
    clock,
    onProblem: (error) => log.warn({ err: error }, "failed to read or write usage without a known price"),
  });
  await unpriced.read();
  const isPart = ({ level }: Level) => level === "model" || level === "tag";
  let parts = new Set(
    keys
      .levels()
      .filter(isPart)
      .map(({ level, id }) => `${level} ${id}`),
  );
  keys.onLevels = () => {
    const levels = keys.levels();
    sharedLimits?.track(levels, admissions);
    const now = new Set(levels.filter(isPart).map(({ level, id }) => `${level} ${id}`));
    const isNew = [...now].some((name) => !parts.has(name));
    parts = now;
    if (!isNew) return;
    // What they have used before they were limited is not known here.
    const asOfMs = clock.wallMs();
    spentAt(storage, asOfMs, levels).then(
      (spent) => admissions.learn(spent, asOfMs),
      (err: unknown) => log.error({ err }, "failed to read the spending of models and tags with new limits"),
    );
  };
  keys.onEndUsers = (users) => admissions.endUsers.changed(users);
  keys.onLevels();
  keys.tokens.onLevels = (levels) => sharedLimits?.add(levels, admissions);
  keys.tokens.mayForget = (id) => admissions.isIdle(id);
  const health = new Health({ clock, random }, given.snapshot.routing, (change) => {
    logHealth(log, change);
    if (events.watched) tellHealth(events, change, clock.wallMs());
  });
  let snapshot = given.snapshot;
  const gateway: Gateway = {
    ...given,
    // Asked for by every call: prices and models change at midnight for the first call after it, and no timer has to run.
    get snapshot() {
      const now = snapshot.otherAt?.(clock.wallMs());
      if (now !== undefined) {
        snapshot = now;
        health.reconfigure(now.targets.all(), now.routing);
        log.info({ models: now.catalogue.list().length }, "prices or models changed today");
      }
      return snapshot;
    },
    set snapshot(changed) {
      snapshot = changed;
    },
    keys,
    changes,
    admissions,
    sharedLimits,
    intents: config.ledger.intents,
    ledger,
    refusals: new Refusals({
      storage,
      clock,
      instance: given.instance,
      summarise: ({ reason, keyId, address, requests }) =>
        log.info({ reason, key: keyId || "none", address, requests }, "more requests refused within the last minute"),
      onProblem: (err) =>
        log.error({ err }, "failed to write the counts of rejected requests; they will be written later"),
    }),
    unpriced,
    captures: new Captures({
      storage,
      clock,
      sealer,
      limits: config.capture,
      onDropped: (dropped, err) => log.error({ err, dropped }, "failed to capture bodies; calls are not affected"),
    }),
    events,
    metrics: new CallMetrics({ alsoCount }),
    health,
    conversations: new Conversations(),
    sealed: new SealedOrigins(),
    backgroundEvents: new BackgroundEvents(),
    slots: new Slots(clock),
    watchdog: new Watchdog(clock),
    // In a turn of its own, so that it delays no response of this one.
    memory: new MemoryBudget(config.server.memoryBytes, () => clock.soon(() => void fullGC())),
    buffers: new BufferPool(),
    files: await Files.open({
      storage,
      store: fileStore,
      publicUrl,
      random,
      limits: {
        retentionMs: config.retention.ms,
        maxFileBytes: config.retention.maxFileBytes,
        maxTotalBytes: config.retention.maxTotalBytes,
        maxProjectBytes: config.retention.maxProjectBytes,
      },
    }),
    objects,
    uploads,
    filesAtProviders: new FilesAtProviders({ storage, uploads, clock, random, log, send: given.send }),
    caches: new Caches({
      storage,
      clock,
      random,
      hold: (owner, costNanoUsd) => admissions.hold({ ...owner, maker: keys.makerOf(owner.keyId) }, costNanoUsd),
    }),
    batches: new Batches(uploading),
    partialUploads: new PartialUploads(uploading),
    storedConversations,
    answers: new Answers({ ...storing, conversations: storedConversations, limits: config.responses }),
    answerCache: new AnswerCache({ storage, clock, sealer, onProblem: (err, what) => log.warn({ err }, what) }),
    background: new BackgroundLeases({
      storage,
      clock,
      random,
      leaseMs: timings.operationLeaseMs,
      onProblem: (err) => log.error({ err }, "failed to renew the lease of a response"),
    }),
    runningCalls: 0,
    calls: new RunningCalls(),
    orphanedTexts: 0,
    orphanedImages: 0,
    closing: false,
  };
  return gateway;
}

function tellHealth(events: EventHub, { target, ofCredential, openMs }: HealthChange, atMs: number): void {
  events.tell({
    type: "health",
    atMs,
    provider: target.offer.provider,
    credential: target.credential || undefined,
    upstreamModel: ofCredential ? undefined : target.offer.upstreamModel,
    state: openMs === undefined ? "closed" : "open",
    openMs,
  });
}

function logTrouble(log: Log, name: string, err: unknown): void {
  if (err === undefined) log.info(`${name}: changes can be read again`);
  else
    log.error(
      { err },
      `${name}: changes cannot be read; what is in memory stays in force, and revocations by other processes are not seen`,
    );
}

/** One line when a breaker opens, and one when the provider is available again: operators look for both. */
function logHealth(log: Log, { target: { offer, credential }, ofCredential, openMs }: HealthChange): void {
  const fields = {
    provider: offer.provider,
    ...(credential === "" ? {} : { credential }),
    ...(ofCredential ? {} : { upstream_model: offer.upstreamModel }),
  };
  const what = ofCredential ? "this credential" : "this model";
  if (openMs === undefined) log.info(fields, `the provider is available again for ${what}`);
  else
    log.warn(
      { ...fields, seconds: Math.round(openMs / 1000) },
      ofCredential
        ? "the provider rejects this credential: other offers are tried first"
        : "the provider is failing for this model: other offers are tried first",
    );
}
