import { type RefusedRequest, type TracedCall, Tracing } from "../src/telemetry/tracing.ts";

/** Records the traces that would be exported. Slow calls are not kept. */
export class KeptTraces {
  readonly calls: TracedCall[] = [];
  readonly refused: RefusedRequest[] = [];
  readonly tracing: Tracing;

  /** `ratio`: the share of ordinary calls that is kept. */
  constructor(ratio = 0) {
    this.tracing = new Tracing({
      random: { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)), id: () => "x" },
      sampling: { ratio, slowMs: 3_600_000 },
      keep: (call) => this.calls.push(call),
      keepRefused: (request) => this.refused.push(request),
    });
  }
}
