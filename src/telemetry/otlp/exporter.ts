import type { Cancel, Clock } from "../../base/clock.ts";
import { withTimeout } from "../../base/with-timeout.ts";
import { type Family, family } from "../family.ts";
import type { RefusedRequest, TracedCall } from "../tracing.ts";
import { deliver, type Post, type PostedPayload } from "./delivery.ts";
import { aroundSpans, metricsPayload, type Resource } from "./payload.ts";
import { type SpanBatch, SpanQueue } from "./span-queue.ts";
import { SpanTexts } from "./span-texts.ts";

interface ExporterOptions {
  clock: Clock;
  post: Post;
  resource: Resource;
  version: string;
  /** Absent: no traces are exported, or no metrics. */
  tracesUrl?: string | undefined;
  metricsUrl?: string | undefined;
  metricsEveryMs: number;
  /** The current metrics. */
  collect: () => readonly Family[];
  /** Called when a delivery is given up, and with undefined when deliveries succeed again. */
  onTrouble: (reason: string | undefined) => void;
}

type Signal = "traces" | "metrics";

/** How long the last flush of a stop may take. */
const LAST_FLUSH_MS = 2_000;

/**
 * Sends traces and metrics to a collector in the background. If the collector is unavailable, slow or broken, only the
 * telemetry is lost.
 */
export class OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #queue: SpanQueue;
  readonly #texts = new SpanTexts();
  readonly #startedMs: number;
  readonly #lost: Record<Signal, number> = { traces: 0, metrics: 0 };
  #stops: Cancel[] = [];
  #sendingMetrics = false;
  #stopping = false;
  #inTrouble = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#startedMs = options.clock.wallMs();
    this.#queue = new SpanQueue({
      ...aroundSpans(options.resource, options.version),
      clock: options.clock,
      send: (batch) => this.#sendTraces(batch),
    });
  }

  add(call: TracedCall): void {
    if (this.#options.tracesUrl !== undefined) this.#queue.add(this.#texts.of(call));
  }

  addRefused(request: RefusedRequest): void {
    if (this.#options.tracesUrl !== undefined) this.#queue.add(this.#texts.ofRefused(request));
  }

  start(): void {
    const { clock, metricsUrl, metricsEveryMs, tracesUrl } = this.#options;
    if (tracesUrl !== undefined) this.#stops.push(this.#queue.start());
    if (metricsUrl !== undefined) {
      this.#stops.push(clock.every(metricsEveryMs, () => void this.#sendMetrics(), { background: true }));
    }
  }

  /** Sends the rest within two seconds; does nothing if it was not started. */
  async stop(): Promise<void> {
    if (this.#stops.length === 0) return;
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#stopping = true;
    const last = Promise.all([this.#queue.flush(), this.#sendMetrics()]);
    await withTimeout(last, LAST_FLUSH_MS, this.#options.clock, () => new Error("late")).catch(() => undefined);
  }

  family(): Family {
    const { traces, metrics } = this.#lost;
    return family(
      "counter",
      "trivium_telemetry_dropped_total",
      "Traces and metric requests that the collector did not accept.",
      [
        { labels: { signal: "traces" }, value: traces + this.#queue.dropped },
        { labels: { signal: "metrics" }, value: metrics },
      ],
    );
  }

  #sendTraces({ body, calls }: SpanBatch): Promise<boolean> {
    return this.#deliver("traces", { url: this.#options.tracesUrl ?? "", body }, calls);
  }

  async #sendMetrics(): Promise<void> {
    const { metricsUrl: url, resource, version, collect, clock } = this.#options;
    if (url === undefined || this.#sendingMetrics) return;
    this.#sendingMetrics = true;
    try {
      const times = { startedMs: this.#startedMs, nowMs: clock.wallMs() };
      await this.#deliver("metrics", { url, body: metricsPayload(resource, version, collect(), times) }, 1);
    } catch (error) {
      this.#giveUp("metrics", 1, String(error));
    } finally {
      this.#sendingMetrics = false;
    }
  }

  /** Whether the collector accepted all or part of it. */
  async #deliver(signal: Signal, payload: PostedPayload, parts: number): Promise<boolean> {
    const { post, clock, onTrouble } = this.#options;
    const delivered = await deliver(post, payload, clock, () => !this.#stopping);
    if (delivered.outcome === "given up") {
      this.#giveUp(signal, parts, delivered.reason);
      return false;
    }
    if (delivered.rejected > 0) {
      const reason = `the collector rejected ${delivered.rejected} parts of a request: ${delivered.reason}`;
      this.#giveUp(signal, Math.min(parts, delivered.rejected), reason);
    } else {
      if (this.#inTrouble) onTrouble(undefined);
      this.#inTrouble = false;
    }
    return true;
  }

  #giveUp(signal: Signal, parts: number, reason: string): void {
    this.#lost[signal] += parts;
    if (!this.#inTrouble) this.#options.onTrouble(`${signal}: ${reason}`);
    this.#inTrouble = true;
  }
}
