import type { Cancel, Clock } from "../../base/clock.ts";

/** A live connection as operators see it. */
export interface SessionView {
  id: string;
  key: string;
  project: string;
  protocol: string;
  /** By the wall clock. */
  openedAtMs: number;
  /** Turns that were begun, and those of them that run. */
  turns: number;
  running: number;
}

export interface LiveSession {
  readonly view: SessionView;
  /** Called about every second. */
  check(nowMs: number): void;
  /** The gateway stops: no turn begins any more, and the connection is closed when the last one has ended, within `timeLeftMs`. */
  drain(timeLeftMs: number): void;
  /** An operator ends it: the client gets an error, and the connection is closed even if turns run. */
  endNow(): void;
  /** Closes the connection, whatever runs. */
  close(): void;
}

const LOOK_MS = 1_000;

/** The live connections of this process. */
export class LiveSessions {
  readonly #clock: Clock;
  readonly #open = new Set<LiveSession>();
  #stopLooking: Cancel | undefined;
  /** Turns that were begun since the start. */
  turns = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get open(): number {
    return this.#open.size;
  }

  add(session: LiveSession): void {
    this.#open.add(session);
    this.#stopLooking ??= this.#clock.every(LOOK_MS, () => this.#look(), { background: true });
  }

  remove(session: LiveSession): void {
    this.#open.delete(session);
    if (this.#open.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  list(): SessionView[] {
    return [...this.#open].map(({ view }) => view);
  }

  /** Undefined if no session of this process has the id. */
  find(id: string): LiveSession | undefined {
    for (const session of this.#open) if (session.view.id === id) return session;
    return undefined;
  }

  drain(timeLeftMs: number): void {
    for (const session of [...this.#open]) session.drain(timeLeftMs);
  }

  close(): void {
    for (const session of [...this.#open]) session.close();
  }

  #look(): void {
    const nowMs = this.#clock.nowMs();
    for (const session of [...this.#open]) session.check(nowMs);
  }
}
