import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { Clock } from "../../base/clock.ts";
import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import type { MediaTokens } from "../../canon/media-tokens.ts";
import { addNote } from "../../canon/notes.ts";
import type { Stop } from "../../canon/stop.ts";
import type { Usage } from "../../canon/usage.ts";
import type { Tap, TapProgress } from "../../dialects/dialect.ts";
import { GuardBlockedError } from "../../guards/guard-errors.ts";
import { StreamGuard } from "../../guards/stream/stream-guard.ts";
import { readFrames } from "../../wire/sse.ts";
import { type Call, ClientDisconnectedError, type LaneAttempt } from "../call.ts";
import { whileRunning } from "../derived/while-running.ts";
import type { Gateway } from "../gateway.ts";
import { FilterStop, GUARD_STOP } from "./filter-stop.ts";
import { guardRefusal } from "./guard-refusal.ts";
import type { GuardRun } from "./guard-run.ts";
import { keepChecked } from "./keep-checked.ts";
import { receivedEvents } from "./received-events.ts";

export const NO_LOGPROBS = "a guard looks at responses, and log probabilities would repeat what it removes";

const decoder = new TextDecoder();

/**
 * The guards on a stream, behind the tap that renders it. Held events leave once they have passed. A stopped response is read to its end
 * all the same, because it is billed.
 */
export class GuardTap implements Tap {
  readonly #tap: Tap;
  readonly #guard: StreamGuard;
  readonly #call: Call;
  readonly #run: GuardRun;
  readonly #attempt: LaneAttempt;
  readonly #isEvents: boolean;
  readonly #clock: Clock;
  /** Absent if no guard can stop the response. */
  readonly #filterStop: FilterStop | undefined;
  readonly #rendered = new ByteBuffer();
  #isBlocked = false;
  /** Nobody reads it. Like one that is blocked, it is read to its end. */
  #isLeft = false;
  #failure: GatewayError | undefined;
  #hasEnded = false;
  #isKept = false;
  /** The end of the response is written. */
  #isDone = false;
  #notes = false;
  /** Set while something is asked outside of the gateway. */
  pending: Promise<unknown> | undefined;

  constructor(tap: Tap, call: Call, run: GuardRun, gateway: Gateway, attempt: LaneAttempt) {
    const { dialect, options } = call.incoming;
    const guards = run.inForce.response;
    this.#tap = tap;
    this.#call = call;
    this.#run = run;
    this.#attempt = attempt;
    const texts = call.saver === undefined ? dialect.texts : { ...dialect.texts, repeats: true };
    const { clock } = gateway;
    this.#clock = clock;
    this.#guard = run.stream(
      attempt,
      (tally) => new StreamGuard(guards, texts, { tally, nowMs: clock.nowMs, asker: { gateway, call, run } }),
    );
    this.#isEvents = dialect.http.streamType(options).startsWith("text/event-stream");
    const stops = guards.some(
      ({ settings, hook }) => settings.action === "block" || (hook && settings.action !== "observe"),
    );
    this.#filterStop = stops ? new FilterStop(call, gateway, attempt) : undefined;
  }

  push(events: Uint8Array, output: ByteBuffer): TapProgress {
    if (events.length > 0) this.#tap.push(events, this.#rendered);
    this.#pass(output);
    return this;
  }

  end(rest: string, output: ByteBuffer): TapProgress {
    this.#tap.end(rest, this.#rendered);
    this.#pass(output);
    return this;
  }

  #pass(output: ByteBuffer): void {
    // Text that is rendered in the meantime waits for the answer.
    if (this.pending === undefined) {
      const text = decoder.decode(this.#rendered.view());
      this.#rendered.clear();
      if (!this.#isBlocked && !this.#isLeft && this.#failure === undefined) this.#check(text);
    }
    if (this.pending === undefined) this.#release(output);
    else if (!this.#run.inForce.actsOnResponse) this.#write(output);
  }

  #check(text: string): void {
    try {
      for (const event of receivedEvents(text, this.#isEvents)) this.#guard.push(event);
      if (!this.#hasEnded && (this.#tap.state === "ended" || this.#tap.failure !== undefined)) {
        this.#hasEnded = true;
        this.#guard.end();
      }
      this.#guard.check();
      this.#wait(this.#guard.pending);
    } catch (thrown) {
      this.#stop(thrown);
    }
  }

  #wait(pending: Promise<unknown> | undefined): void {
    if (pending === undefined) return;
    const waiting = whileRunning(pending, this.#call, this.#clock)
      .catch((thrown: unknown) => this.#stop(thrown))
      .finally(() => {
        if (this.pending === waiting) this.pending = undefined;
      });
    this.pending = waiting;
  }

  #stop(thrown: unknown): void {
    const refusal = guardRefusal(thrown, "response", this.#run);
    if (thrown instanceof ClientDisconnectedError) this.#isLeft = true;
    else if (thrown instanceof GuardBlockedError && this.#filterStop !== undefined) this.#isBlocked = true;
    else this.#failure = asGatewayError(refusal);
  }

  #release(output: ByteBuffer): void {
    if (this.#failure !== undefined) return;
    if (this.#isLeft) {
      this.#isDone = this.#tap.state === "ended";
      return;
    }
    if (this.#isBlocked) {
      this.#endBlocked(output);
      return;
    }
    this.#write(output);
    if (this.#guard.hasDroppedTokens && !this.#notes) {
      this.#notes = true;
      addNote(this.#attempt.notes, { path: "logprobs", action: "dropped", reason: NO_LOGPROBS });
    }
    if (!this.#hasEnded) return;
    if (!this.#isKept) {
      this.#isKept = true;
      try {
        this.#wait(keepChecked(this.#call, this.#run, this.#attempt, (json) => this.#guard.checkRepeated(json)));
      } catch (thrown) {
        this.#stop(thrown);
      }
      if (this.pending !== undefined || this.#failure !== undefined) return;
    }
    this.#isDone = true;
  }

  #write(output: ByteBuffer): void {
    for (const event of this.#guard.release()) {
      output.putText(event);
      if (this.#filterStop !== undefined) this.#follow(event);
    }
  }

  #follow(event: string): void {
    if (this.#isEvents) for (const frame of readFrames(event)) this.#filterStop?.read(frame);
    else
      for (const { data } of receivedEvents(event, false))
        this.#filterStop?.read({ raw: event, event: undefined, data });
  }

  /** The client gets the end of a stopped response once that of the provider is known. */
  #endBlocked(output: ByteBuffer): void {
    if (this.#isDone || (this.#tap.state !== "ended" && this.#tap.failure === undefined)) return;
    const text = this.#filterStop?.write(this.#tap.usage);
    if (text === undefined)
      this.#failure = asGatewayError(guardRefusal(new GuardBlockedError("", "it was stopped"), "response", this.#run));
    else output.putText(text);
    this.#isDone = true;
  }

  get state(): "open" | "complete" | "ended" {
    if (this.#isDone) return "ended";
    const { state } = this.#tap;
    return state === "ended" ? "complete" : state;
  }

  get failure(): GatewayError | undefined {
    if (this.#failure !== undefined) return this.#failure;
    return this.#isBlocked || this.pending !== undefined ? undefined : this.#tap.failure;
  }

  get contentSeen(): boolean {
    return this.#tap.contentSeen;
  }

  get usage(): Usage | undefined {
    return this.#tap.usage;
  }

  get usageRuns(): boolean {
    return this.#tap.usageRuns;
  }

  get stop(): Stop | undefined {
    return this.#isBlocked ? GUARD_STOP : this.#tap.stop;
  }

  get generatedCharacters(): number {
    return this.#tap.generatedCharacters;
  }

  get generatedMedia(): MediaTokens | undefined {
    return this.#tap.generatedMedia;
  }

  get reasoningSeen(): boolean {
    return this.#tap.reasoningSeen;
  }

  get position(): unknown {
    return this.#tap.position;
  }
}
