import { Credentials } from "../credentials.ts";
import { ClientSecrets } from "../hosts/openai/realtime/client-secrets.ts";
import { isObject, type JsonObject } from "../json.ts";
import { speak } from "../voice/speak.ts";
import { liveHosts } from "./hosts.ts";
import type { LiveSession } from "./live-host.ts";

const NOW_MS = Date.parse("2026-11-18T12:00:00Z");

/** What a sentence sounds like, at 24,000 samples a second. */
export function spoken(text: string, speed = 4): Int16Array {
  const bytes = speak(text, { voice: "tester", speed });
  return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
}

export const bytesOf = (samples: Int16Array): Buffer =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

/** A client of a simulated live host, without a socket. Waiting takes no time. */
export class LiveTester {
  readonly events: JsonObject[] = [];
  readonly frames: (string | Uint8Array)[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly secrets = new ClientSecrets(() => NOW_MS);
  readonly #session: LiveSession;
  readonly protocol: string | undefined;
  #arrived = Promise.withResolvers<void>();

  constructor(
    path: string,
    headers: Record<string, string> = { authorization: "Bearer key" },
    secrets?: ClientSecrets,
  ) {
    const open = liveHosts(secrets ?? this.secrets, {
      credentials: new Credentials(undefined),
      acceptsToken: (token) => token === "token",
      nowMs: () => NOW_MS,
      wait: (ms, signal) =>
        ms > 60_000
          ? new Promise((resolve) => signal.addEventListener("abort", () => resolve()))
          : new Promise((resolve) => setImmediate(resolve)),
      partDelayMs: 0,
      countModel: () => {},
      nextSession: () => 1,
    });
    const accepted = open({ url: new URL(path, "http://127.0.0.1"), headers: new Headers(headers) });
    if (accepted === undefined) throw new Error(`no host has a WebSocket at ${path}`);
    this.#session = accepted.session;
    this.protocol = accepted.protocol;
    this.#session.opened({
      send: (frame) => {
        this.frames.push(frame);
        try {
          const event: unknown = JSON.parse(typeof frame === "string" ? frame : Buffer.from(frame).toString());
          if (isObject(event)) this.events.push(event);
        } catch {
          // Some faults are frames that cannot be parsed; tests look for them among the frames.
        }
        this.#arrive();
      },
      close: (code, reason) => this.#end(code, reason),
      drop: () => this.#end(1006, ""),
    });
  }

  say(event: object | string): void {
    this.#session.message(typeof event === "string" ? event : JSON.stringify(event));
  }

  leave(): void {
    this.#session.closed();
  }

  get types(): unknown[] {
    return this.events.map(({ type }) => type);
  }

  /** Waits for an event that fits, after the first `after` ones. */
  async hears(fits: (event: JsonObject) => boolean, after = 0): Promise<JsonObject> {
    for (;;) {
      const found = this.events.slice(after).find(fits);
      if (found !== undefined) return found;
      if (this.closed !== undefined) throw new Error(`closed with ${this.closed.code} ${this.closed.reason}`);
      await this.#arrived.promise;
    }
  }

  type(name: string, after = 0): Promise<JsonObject> {
    return this.hears(({ type }) => type === name, after);
  }

  async untilClosed(): Promise<{ code: number; reason: string }> {
    while (this.closed === undefined) await this.#arrived.promise;
    return this.closed;
  }

  #end(code: number, reason: string): void {
    this.closed ??= { code, reason };
    this.#session.closed();
    this.#arrive();
  }

  #arrive(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}
