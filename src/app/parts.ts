import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import type { Log } from "../observe/log.ts";

/** Stops a part. The signal asks it to hurry. */
type Stop = (hurry?: AbortSignal) => unknown;

interface PartOptions {
  /** How long its stop may take. */
  withinMs?: number;
  /** It stops together with the part before it. */
  together?: boolean;
}

interface Part extends Required<PartOptions> {
  name: string;
  stop: Stop;
}

/** Default limit for a stop. */
const STOP_MS = 3_000;

/**
 * The parts of a running program, in the order in which they started. They stop in reverse order. A stop that fails or hangs
 * is logged and the others still run: a process that hangs would be killed without a message (H29).
 */
export class Parts {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #parts: Part[] = [];
  #stopping: Promise<void> | undefined;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Adds a part that has started, with the function that stops it; parts without one are skipped. */
  add(name: string, stop: Stop | undefined, { withinMs = STOP_MS, together = false }: PartOptions = {}): void {
    if (stop !== undefined) this.#parts.push({ name, stop, withinMs, together });
  }

  /** Never rejects. Later calls wait for the same stop. */
  stop(hurry?: AbortSignal): Promise<void> {
    this.#stopping ??= this.#stopAll(hurry);
    return this.#stopping;
  }

  async #stopAll(hurry: AbortSignal | undefined): Promise<void> {
    let step: Promise<void>[] = [];
    for (const part of this.#parts.reverse()) {
      step.push(this.#end(part, hurry));
      if (part.together) continue;
      await Promise.all(step);
      step = [];
    }
  }

  async #end({ name, stop, withinMs }: Part, hurry: AbortSignal | undefined): Promise<void> {
    const late = () => new Error(`a part did not stop within ${withinMs} ms`);
    const stopped = (async () => stop(hurry))();
    await withTimeout(stopped, withinMs, this.#clock, late).catch((err: unknown) => {
      this.#log.error({ err, part: name }, "stopped without waiting for it");
    });
  }
}
