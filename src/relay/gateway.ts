import type { Admissions } from "../access/admit.ts";
import type { KeyRing } from "../access/key-ring.ts";
import type { SharedLimits } from "../access/shared-limits.ts";
import type { AnswerCache } from "../answers/answer-cache.ts";
import type { Answers } from "../answers/answers.ts";
import type { StoredConversations } from "../answers/stored-conversations.ts";
import type { BufferPool } from "../base/byte-buffer.ts";
import type { Sources } from "../base/sources.ts";
import type { Batches } from "../batches/batches.ts";
import type { UnpricedPolicy } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { Captures } from "../capture/captures.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { SealedOrigins } from "../dialects/answer/sealed-origins.ts";
import type { ImageLimits } from "../dialects/request/hosted-images.ts";
import type { Files } from "../files/files.ts";
import type { Guards } from "../guards/guards.ts";
import type { Refusals } from "../ledger/refusals.ts";
import type { UnpricedUses } from "../ledger/unpriced-uses.ts";
import type { LedgerWriter } from "../ledger/writer.ts";
import type { Caches } from "../objects/caches.ts";
import type { Objects } from "../objects/objects.ts";
import type { PartialUploads } from "../objects/partial-uploads.ts";
import type { UploadedFiles } from "../objects/uploaded-files.ts";
import type { EventHub } from "../observe/event-hub.ts";
import type { Log } from "../observe/log.ts";
import type { BackgroundLeases } from "../operations/background-leases.ts";
import type { Provider } from "../providers/provider.ts";
import type { RoutingDefaults } from "../routing/call-routing.ts";
import type { Conversations } from "../routing/conversations.ts";
import type { Health } from "../routing/health/health.ts";
import type { Slots } from "../routing/slots.ts";
import type { Targets } from "../routing/targets.ts";
import type { Changes } from "../storage/changes.ts";
import type { CallMetrics } from "../telemetry/call-metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Connect } from "../wire/connect.ts";
import type { StreamMedia } from "../wire/media-fetch.ts";
import type { Send } from "../wire/send.ts";
import type { BackgroundEvents } from "./answer/background-events.ts";
import type { Watchdog } from "./attempt/watchdog.ts";
import type { ProviderCopies } from "./files/provider-copies.ts";
import type { LiveLimits } from "./live-limits.ts";
import type { MemoryBudget } from "./request/memory-budget.ts";
import type { FetchMedia } from "./request/resolve-media.ts";
import type { RunningCalls } from "./running-calls.ts";
import type { Timings } from "./settle/timings.ts";

/** Everything derived from one configuration. Replaced as a whole on reload; a call keeps the one it began with. */
export interface Snapshot {
  catalogue: Catalogue;
  /** The same configuration with the prices and models of that time; undefined if it has those. Absent where time changes nothing, as in some tests. */
  otherAt?: (ms: number) => Snapshot | undefined;
  /** By name, one for each credential. */
  providers: ReadonlyMap<string, readonly Provider[]>;
  targets: Targets;
  routing: RoutingDefaults;
  /** The model that generates images in the middle of a response. Defaults to the first image model of the catalogue. */
  imageModel?: string | undefined;
  maxBodyBytes: number;
  maxJsonKeys: number;
  /** Bounds of live connections. */
  live: LiveLimits;
  /** Model lists answer requests without any credential. */
  publicModels: boolean;
  /** The policy for requests without a known price, if no other level sets one; undefined if the gateway sets none. */
  unpriced?: UnpricedPolicy | undefined;
  /** How often a model may request images in one response, and how many are generated. */
  imageLimits: ImageLimits;
  /** Undefined if none are configured. */
  guards?: Guards | undefined;
  /** Owner names in requests whose objects are available in every account (`publicOwnersOf`). */
  publicOwners: ReadonlySet<string>;
  /** Match the hosts where vendors store uploaded files (`filesHostsOf`). */
  filesHosts: readonly RegExp[];
}

/** Everything that a call needs from the program around it. */
export interface Gateway extends Sources {
  /** The id of this process among those that use the storage. */
  readonly instance: string;
  snapshot: Snapshot;
  readonly keys: KeyRing;
  /** Keeps what this process holds in memory up to date with the storage. */
  readonly changes: Changes;
  readonly admissions: Admissions;
  /** Set if limits are shared with other processes. */
  readonly sharedLimits: SharedLimits | undefined;
  /** Running requests to providers, and calls that wait for a slot. */
  readonly slots: Slots;
  readonly ledger: LedgerWriter;
  /** Counts requests that do not become calls. */
  readonly refusals: Refusals;
  /** Unpriced usage by key. */
  readonly unpriced: UnpricedUses;
  /** Stores captured bodies. */
  readonly captures: Captures;
  /** Whether each call has a row before a provider is called. */
  readonly intents: boolean;
  /** The health of the targets. It outlives the snapshot. */
  readonly health: Health;
  /** The targets that hold the prompt caches of conversations. */
  readonly conversations: Conversations;
  /** The origins of sealed values that do not name theirs. */
  readonly sealed: SealedOrigins;
  readonly watchdog: Watchdog;
  /** The memory limit of all calls together. */
  readonly memory: MemoryBudget;
  /** Buffers for rendering responses. */
  readonly buffers: BufferPool;
  readonly log: Log;
  /** Metrics of all receipts of this process. */
  readonly metrics: CallMetrics;
  /** Absent if no traces are exported. */
  readonly tracing: Tracing | undefined;
  /** Subscribers to events. */
  readonly events: EventHub;
  /** How providers are reached. */
  readonly send: Send;
  /** How live connections to them are opened. */
  readonly connect: Connect;
  /** Fetches URLs that a client named. */
  readonly fetchMedia: FetchMedia;
  /** Fetches URLs that a provider named on hosts other than its own. */
  readonly streamMedia: StreamMedia;
  /** Stores generated media for a while. */
  readonly files: Files;
  /** Objects that clients create and name later. */
  readonly objects: Objects;
  /** Files among them, with their content. */
  readonly uploads: UploadedFiles;
  /** The copies of those files at providers. */
  readonly filesAtProviders: ProviderCopies;
  /** Content that providers store for later requests. */
  readonly caches: Caches;
  /** Requests that run in the background, many together. */
  readonly batches: Batches;
  /** Files that are still arriving, in several requests. */
  readonly partialUploads: PartialUploads;
  /** Stored responses that later requests build on, and those still being generated. */
  readonly answers: Answers;
  /** Responses that answer equal requests. */
  readonly answerCache: AnswerCache;
  /** Conversations that requests name, and whose items they add to. */
  readonly storedConversations: StoredConversations;
  readonly background: BackgroundLeases;
  /** Their streams. */
  readonly backgroundEvents: BackgroundEvents;
  /** The URL at which clients reach the gateway; a reload may change it. */
  readonly publicUrl: () => string;
  readonly timings: Timings;
  /** Calls that were admitted and are not settled. */
  runningCalls: number;
  /** The same, for operators; videos are not among them. */
  readonly calls: RunningCalls;
  /** How many text calls are still read without their client. */
  orphanedTexts: number;
  /** How many image calls continue without their client. */
  orphanedImages: number;
  /** The shutdown deadline has passed: each running call ends with an error in its own protocol. */
  closing: boolean;
}

/** For calls that arrive too late, and for those that take too long. */
export const shuttingDown = (): GatewayError =>
  new GatewayError("overloaded", "This gateway is shutting down. Try again.");
