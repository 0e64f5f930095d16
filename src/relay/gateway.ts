import type { Admissions } from "../access/admit.ts";
import type { KeyRing } from "../access/key-ring.ts";
import type { SharedLimits } from "../access/shared-limits.ts";
import type { Answers } from "../answers/answers.ts";
import type { BufferPool } from "../base/byte-buffer.ts";
import type { Sources } from "../base/sources.ts";
import type { UnpricedPolicy } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { Captures } from "../capture/captures.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { SealedOrigins } from "../dialects/answer/sealed-origins.ts";
import type { ImageLimits } from "../dialects/request/hosted-images.ts";
import type { Files } from "../files/files.ts";
import type { Refusals } from "../ledger/refusals.ts";
import type { UnpricedUses } from "../ledger/unpriced-uses.ts";
import type { LedgerWriter } from "../ledger/writer.ts";
import type { Objects } from "../objects/objects.ts";
import type { EventHub } from "../observe/event-hub.ts";
import type { Log } from "../observe/log.ts";
import type { BackgroundLeases } from "../operations/background-leases.ts";
import type { Provider } from "../providers/provider.ts";
import type { RoutingDefaults } from "../routing/call-routing.ts";
import type { Conversations } from "../routing/conversations.ts";
import type { Health } from "../routing/health/health.ts";
import type { Slots } from "../routing/slots.ts";
import type { Targets } from "../routing/targets.ts";
import type { CallMetrics } from "../telemetry/call-metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { StreamMedia } from "../wire/media-fetch.ts";
import type { Send } from "../wire/send.ts";
import type { BackgroundEvents } from "./answer/background-events.ts";
import type { Watchdog } from "./attempt/watchdog.ts";
import type { MemoryBudget } from "./request/memory-budget.ts";
import type { FetchMedia } from "./request/resolve-media.ts";
import type { Timings } from "./settle/timings.ts";

/** What a configuration makes of the world. Replaced as a whole on reload; a call keeps the one it began with. */
export interface Snapshot {
  catalogue: Catalogue;
  /** By name, one for each credential. */
  providers: ReadonlyMap<string, readonly Provider[]>;
  targets: Targets;
  routing: RoutingDefaults;
  /** Who makes images in the middle of an answer; the first model of the catalogue that makes any, where none is named. */
  imageModel?: string | undefined;
  maxBodyBytes: number;
  /** Model lists answer requests without any credential. */
  publicModels: boolean;
  /** What becomes of requests for what has no known price, where no other level says; undefined where the gateway sets nothing. */
  unpriced?: UnpricedPolicy | undefined;
  /** How often the gateway lets a model ask for images in one answer, and how many it makes. */
  imageLimits: ImageLimits;
  /** Words in a request for owners whose objects every account has (`publicOwnersOf`). */
  publicOwners: ReadonlySet<string>;
}

/** Everything that a call needs from the program around it. */
export interface Gateway extends Sources {
  /** The id of this process among those that use the storage. */
  readonly instance: string;
  snapshot: Snapshot;
  readonly keys: KeyRing;
  readonly admissions: Admissions;
  /** Where other processes have a part in the limits. */
  readonly sharedLimits: SharedLimits | undefined;
  /** Requests to providers that run, and calls that wait for one to end. */
  readonly slots: Slots;
  readonly ledger: LedgerWriter;
  /** Counts requests that do not become calls. */
  readonly refusals: Refusals;
  /** What keys have used that has no known price. */
  readonly unpriced: UnpricedUses;
  /** Where the bodies of calls go whose key is to have them kept. */
  readonly captures: Captures;
  /** Whether each call has a row before a provider is asked. */
  readonly intents: boolean;
  /** What is known of the targets; it outlives the snapshot. */
  readonly health: Health;
  /** Where conversations have their prompt caches. */
  readonly conversations: Conversations;
  /** Which hosts have sealed values that do not say so. */
  readonly sealed: SealedOrigins;
  readonly watchdog: Watchdog;
  /** What all calls may hold together. */
  readonly memory: MemoryBudget;
  /** What answers are rendered into. */
  readonly buffers: BufferPool;
  readonly log: Log;
  /** What all receipts of this process add up to. */
  readonly metrics: CallMetrics;
  /** Absent where no traces are exported. */
  readonly tracing: Tracing | undefined;
  /** Who watches what happens here. */
  readonly events: EventHub;
  /** How providers are reached. */
  readonly send: Send;
  /** How URLs are fetched that a client named. */
  readonly fetchMedia: FetchMedia;
  /** The same for those that a provider named, on hosts that are not its own. */
  readonly streamMedia: StreamMedia;
  /** Generated media that are kept for a while. */
  readonly files: Files;
  /** Objects that clients create and name later. */
  readonly objects: Objects;
  /** Answers that later requests build on, and which of them are still being made. */
  readonly answers: Answers;
  readonly background: BackgroundLeases;
  /** Their streams. */
  readonly backgroundEvents: BackgroundEvents;
  /** How clients reach it; a reload may change it. */
  readonly publicUrl: () => string;
  readonly timings: Timings;
  /** Calls that were admitted and are not settled. */
  runningCalls: number;
  /** Calls for texts among them whose upstream is read on without their client. */
  orphanedTexts: number;
  /** Calls for images among them that go on without their client. */
  orphanedImages: number;
  /** The time for running calls is up: each ends with an error in its own protocol. */
  closing: boolean;
}

/** For calls that come too late, and for those that take too long. */
export const shuttingDown = (): GatewayError =>
  new GatewayError("overloaded", "This gateway is shutting down. Try again.");
