import type { Cancel, Clock } from "../../base/clock.ts";
import { EndOfTurn } from "../../base/end-of-turn.ts";
import { Connection, type ConnectionUser } from "./connection.ts";
import type { RequestUrl } from "./request-url.ts";

interface PoolOptions {
  /** Idle connections kept for one origin. Others are closed. */
  maxIdle: number;
  idleMs: number;
  /** A connection is not reused right after a response, so that stray bytes or a close are noticed first (S24). */
  restMs: number;
  /** Limits of one connection, so that a fault in it does not persist. */
  maxUses: number;
  maxAgeMs: number;
}

/** Hosts keep connections for one to five minutes, as observed. Most pauses between two requests are shorter. */
const DEFAULTS: PoolOptions = { maxIdle: 256, idleMs: 55_000, restMs: 1, maxUses: 1000, maxAgeMs: 600_000 };
/** A host that states how long it keeps an idle connection closes it then, so it is dropped well before. */
const BEFORE_HOST_CLOSES_MS = 1000;

/** Idle connections by origin. The most recently used one is reused first, so that surplus ones expire. */
export class ConnectionPool {
  /** Answers whose heads arrived in one turn begin together. */
  readonly endOfTurn: EndOfTurn;
  readonly #clock: Clock;
  readonly #options: PoolOptions;
  readonly #idle = new Map<string, Connection[]>();
  #stopSweeping: Cancel | undefined;

  constructor(clock: Clock, options: Partial<PoolOptions> = {}) {
    this.#clock = clock;
    this.endOfTurn = new EndOfTurn(clock);
    this.#options = { ...DEFAULTS, ...options };
  }

  get idle(): number {
    let count = 0;
    for (const connections of this.#idle.values()) count += connections.length;
    return count;
  }

  connect(requestUrl: RequestUrl, user: ConnectionUser): Connection {
    return new Connection(requestUrl, user, this.#clock.nowMs());
  }

  take(origin: string): Connection | undefined {
    const connections = this.#idle.get(origin);
    if (!connections || connections.length === 0) return undefined;
    const now = this.#clock.nowMs();
    const rested = now - this.#options.restMs;
    // The most recently parked connection is last, and may not be reusable yet.
    for (let index = connections.length - 1; index >= 0; index--) {
      const connection = connections[index];
      if (!connection || connection.idleSinceMs > rested || connection.idleUntilMs <= now) continue;
      connections.splice(index, 1);
      return connection;
    }
    return undefined;
  }

  /** `keptMs`: how long the host says it keeps the connection. */
  put(connection: Connection, keptMs?: number): void {
    const { maxIdle, maxUses, maxAgeMs, idleMs } = this.#options;
    const now = this.#clock.nowMs();
    const idleFor = Math.min(idleMs, keptMs === undefined ? idleMs : keptMs - BEFORE_HOST_CLOSES_MS);
    let connections = this.#idle.get(connection.origin);
    const full = connections !== undefined && connections.length >= maxIdle;
    if (full || idleFor <= 0 || connection.uses >= maxUses || now - connection.madeAtMs >= maxAgeMs) {
      connection.terminate();
      return;
    }
    if (!connections) {
      connections = [];
      this.#idle.set(connection.origin, connections);
    }
    connections.push(connection);
    connection.park(now, idleFor, this.#forget);
    this.#stopSweeping ??= this.#clock.every(idleMs / 4, () => this.#sweep(), { background: true });
  }

  /** Closes the idle connections to a host that has closed one of them: the others are probably dead too. */
  drop(origin: string): void {
    for (const connection of this.#idle.get(origin)?.splice(0) ?? []) connection.terminate();
  }

  readonly #forget = (connection: Connection): void => {
    const connections = this.#idle.get(connection.origin);
    const index = connections?.lastIndexOf(connection) ?? -1;
    if (index >= 0) connections?.splice(index, 1);
  };

  #sweep(): void {
    const now = this.#clock.nowMs();
    for (const [origin, connections] of this.#idle) {
      for (const connection of connections.filter(({ idleUntilMs }) => idleUntilMs <= now)) connection.terminate();
      if (connections.length === 0) this.#idle.delete(origin);
    }
    if (this.#idle.size > 0) return;
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
  }
}
