import { makeGateway } from "../src/app/make-gateway.ts";
import { makeOperations } from "../src/app/make-operations.ts";
import { makeSnapshot } from "../src/app/snapshot.ts";
import type { Clock } from "../src/base/clock.ts";
import type { Config } from "../src/config/config.ts";
import type { FileStore } from "../src/files/file-store.ts";
import type { Leases } from "../src/leases/leases.ts";
import type { CallFacts, SettledCall } from "../src/observe/call-line.ts";
import type { Log } from "../src/observe/log.ts";
import type { OperationPoller } from "../src/operations/poller.ts";
import { BUILT_IN } from "../src/providers/index.ts";
import { buryAbandonedAnswers } from "../src/relay/background.ts";
import type { Gateway } from "../src/relay/gateway.ts";
import { DEFAULT_TIMINGS } from "../src/relay/settle/timings.ts";
import { LiveSessions } from "../src/server/live/live-sessions.ts";
import { createRequestHandler, type RequestHandler } from "../src/server/request-handler.ts";
import { ROUTES } from "../src/server/routes.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { Send } from "../src/wire/send.ts";
import { MemoryWeb } from "../testing/memory-web.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import { MODELS } from "./configuration.ts";
import type { FaultyStorage } from "./faulty-storage.ts";
import type { KeptJournals } from "./kept-journals.ts";
import { ProcessClock } from "./process-clock.ts";
import { GATEWAY_URL } from "./requests.ts";
import { SeededIds } from "./seeded-random.ts";

export interface Surroundings {
  config: Config;
  clock: VirtualClock;
  store: FaultyStorage;
  fileStore: FileStore;
  journals: KeptJournals;
  send: Send;
  /** Set if several processes share limits. */
  leases?: (instance: string, clock: Clock) => Leases;
  /** Called for every call that the process has settled. */
  onSettled: (call: SettledCall, facts: CallFacts) => void;
  /** Called for what the gateway reports as an internal error. */
  onInternal: (what: string) => void;
}

/**
 * One process of the gateway: everything the program creates at its start, with simulated time, randomness, network
 * and store.
 */
export class SimulatedProcess {
  readonly number: number;
  readonly clock: ProcessClock;
  readonly ids: SeededIds;
  readonly gateway: Gateway;
  readonly handle: RequestHandler;
  readonly #poller: OperationPoller;
  readonly #kill: () => void;
  /** Resolves when it is killed. */
  readonly killed: Promise<void>;

  private constructor(
    number: number,
    clock: ProcessClock,
    ids: SeededIds,
    gateway: Gateway,
    handle: RequestHandler,
    poller: OperationPoller,
    kill: () => void,
    killed: Promise<void>,
  ) {
    this.number = number;
    this.clock = clock;
    this.ids = ids;
    this.gateway = gateway;
    this.#watchSlots();
    this.handle = handle;
    this.#poller = poller;
    this.#kill = kill;
    this.killed = killed;
  }

  static async start(seed: number, number: number, surroundings: Surroundings): Promise<SimulatedProcess> {
    const { config, store, fileStore, journals, onSettled, onInternal } = surroundings;
    const clock = new ProcessClock(surroundings.clock);
    const ids = new SeededIds(Math.imul(seed, 31) + number);
    const killing = Promise.withResolvers<never>();
    killing.promise.catch(() => {});
    let isAlive = true;
    const kill = () => {
      isAlive = false;
      clock.kill();
      killing.reject(new Error("the process was killed"));
    };
    const web = new MemoryWeb(surroundings.clock);
    const storage: Storage = store.connect(killing.promise);
    const sources = { clock, random: ids };
    await journals.recover(storage);
    const instance = `instance_${number}`;
    const leases = surroundings.leases?.(instance, clock);
    const gateway = await makeGateway(config, {
      ...sources,
      instance,
      leases,
      connect: () => {
        throw new Error("the simulated world has no live connections");
      },
      send: (request) => {
        if (isAlive) return surroundings.send(request);
        return { answer: () => new Promise(() => {}), close: () => {} };
      },
      fetchMedia: web.fetchMedia,
      streamMedia: web.streamMedia,
      log: logTo(
        (call, facts) => isAlive && onSettled(call, facts),
        (what) => isAlive && onInternal(what),
      ),
      timings: DEFAULT_TIMINGS,
      publicUrl: () => GATEWAY_URL,
      snapshot: makeSnapshot(config, {}, sources, undefined),
      storage,
      fileStore,
      journal: journals.open(number, () => isAlive),
      tracing: undefined,
      answerKey: new Uint8Array(32),
    });
    const { operations, poller } = await makeOperations(gateway, storage, config.retention.ms);
    const handle = createRequestHandler({
      host: "127.0.0.1",
      publicUrl: GATEWAY_URL,
      routes: ROUTES,
      context: {
        dialects: BUILT_IN.dialects,
        gateway,
        storage,
        operations,
        live: new LiveSessions(clock),
        accepting: () => true,
        draining: () => false,
        condition: () => ({ status: "ready", reasons: [] }),
        publicUrl: () => GATEWAY_URL,
        version: "simulation",
      },
    });
    await leases?.start();
    poller.start();
    clock.every(DEFAULT_TIMINGS.operationLeaseMs / 2, () => {
      buryAbandonedAnswers(gateway, BUILT_IN.dialects).catch(
        (err: unknown) => isAlive && onInternal(`burying: ${String(err)}`),
      );
    });
    const killed = killing.promise.catch(() => undefined);
    return new SimulatedProcess(number, clock, ids, gateway, handle, poller, kill, killed);
  }

  /** Like SIGKILL: no request is answered, and only the content of the store remains. */
  kill(): void {
    this.#kill();
  }

  /** Stops background work, so that leftovers become visible. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  /** The breaker states of each provider, one per credential. */
  breakers(): Map<string, string[]> {
    const { snapshot, health } = this.gateway;
    const states = new Map<string, string[]>();
    for (const [id, providers] of Object.entries(MODELS)) {
      if (providers.every((provider) => states.has(provider))) continue;
      const { model, offers } = snapshot.catalogue.resolve(id);
      for (const { targets } of snapshot.targets.text(model, offers, "chat").list) {
        for (const { offer } of targets) {
          states.set(
            offer.provider,
            targets.map((target) => health.of(target).state),
          );
        }
      }
    }
    return states;
  }

  /**
   * When a call last waited in vain for a provider's slot. Only the gateway knows: a slot is held until the response
   * is read, which may be long after the provider has sent its end.
   */
  refusedSlotAtMs = Number.NEGATIVE_INFINITY;

  #watchSlots(): void {
    const { slots } = this.gateway;
    const wait = slots.wait.bind(slots);
    slots.wait = (request) =>
      wait(request).catch((busy: unknown) => {
        this.refusedSlotAtMs = this.clock.nowMs();
        throw busy;
      });
  }

  /** Resources that every call must have released. */
  leftovers(): Record<string, number> {
    const { runningCalls, orphanedTexts, orphanedImages, memory, ledger, admissions, slots } = this.gateway;
    const { calls: heldCalls, nanoUsd: heldNanoUsd } = admissions.held;
    return {
      runningCalls,
      orphanedTexts,
      orphanedImages,
      heldBytes: memory.held,
      heldCalls,
      heldNanoUsd,
      slots: slots.running + slots.queued,
      queuedRows: ledger.queued,
    };
  }
}

/** A log that writes nothing. */
function logTo(onCall: Log["call"], onInternal: (what: string) => void): Log {
  const ignore = () => undefined;
  return {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (first: unknown, message?: string) => {
      const { err } = first as { err?: unknown };
      onInternal(`${message ?? String(first)}: ${err instanceof Error ? (err.stack ?? err.message) : String(err)}`);
    },
    call: onCall,
    flush: async () => true,
  };
}
