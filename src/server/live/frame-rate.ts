import { GatewayError } from "../../canon/error.ts";
import type { Gateway } from "../../relay/gateway.ts";

/** How fast a client sends. What it has sent is in memory before it can be refused, so that it is disconnected. */
export class FrameRate {
  readonly #gateway: Gateway;
  /** How much it may send now. */
  #bytes = Number.POSITIVE_INFINITY;
  #frames = Number.POSITIVE_INFINITY;
  #atMs: number;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#atMs = gateway.clock.nowMs();
  }

  /** Counts a frame, or a ping as an empty one. Returns why the client sends too fast. */
  take(bytes: number): GatewayError | undefined {
    const { clock, snapshot } = this.#gateway;
    const { bytesPerSecond, framesPerSecond, maxFrameBytes } = snapshot.live;
    const nowMs = clock.nowMs();
    const seconds = (nowMs - this.#atMs) / 1000;
    this.#atMs = nowMs;
    this.#bytes = Math.min(Math.max(bytesPerSecond, maxFrameBytes), this.#bytes + seconds * bytesPerSecond) - bytes;
    this.#frames = Math.min(framesPerSecond, this.#frames + seconds * framesPerSecond) - 1;
    if (this.#bytes < 0) return tooFast(`${bytesPerSecond} bytes`, "bytes_per_second", "less");
    return this.#frames < 0 ? tooFast(`${framesPerSecond} frames`, "frames_per_second", "larger frames") : undefined;
  }

  /** It goes on as if nothing had been said. */
  get isFlood(): boolean {
    return this.#frames < -this.#gateway.snapshot.live.framesPerSecond;
  }
}

const tooFast = (most: string, setting: string, instead: string) =>
  new GatewayError(
    "rate_limited",
    `A connection may send ${most} a second (live.${setting}). Open a new connection and send ${instead}.`,
  );
