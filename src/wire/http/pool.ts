import type { Connection } from "./connection.ts";

export interface PoolOptions {
  /** Idle connections kept for one origin; what comes beyond is closed. */
  maxIdle: number;
  idleMs: number;
}

/** Hosts were seen to keep connections for one to five minutes; most of a pause between two calls is shorter. */
const DEFAULTS: PoolOptions = { maxIdle: 256, idleMs: 55_000 };

/** Idle connections by origin; the one used last goes first, so that those not needed grow old and are closed. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #idle = new Map<string, Connection[]>();
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor(options: PoolOptions = DEFAULTS) {
    this.#options = options;
  }

  get idle(): number {
    let count = 0;
    for (const connections of this.#idle.values()) count += connections.length;
    return count;
  }

  take(origin: string): Connection | undefined {
    return this.#idle.get(origin)?.pop();
  }

  put(connection: Connection): void {
    let connections = this.#idle.get(connection.origin);
    if (!connections) {
      connections = [];
      this.#idle.set(connection.origin, connections);
    }
    if (connections.length >= this.#options.maxIdle) {
      connection.terminate();
      return;
    }
    connections.push(connection);
    connection.park(performance.now(), this.#forget);
    this.#sweeper ??= setInterval(() => this.#sweep(), this.#options.idleMs / 4).unref();
  }

  readonly #forget = (connection: Connection): void => {
    const connections = this.#idle.get(connection.origin);
    const place = connections?.lastIndexOf(connection) ?? -1;
    if (place >= 0) connections?.splice(place, 1);
  };

  #sweep(): void {
    const oldest = performance.now() - this.#options.idleMs;
    for (const [origin, connections] of this.#idle) {
      // The oldest stand first.
      while (connections[0] && connections[0].idleSinceMs <= oldest) connections.shift()?.terminate();
      if (connections.length === 0) this.#idle.delete(origin);
    }
    if (this.#idle.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}
