import type { Receipt } from "../../canon/receipt.ts";
import type { Family } from "../family.ts";
import { type HistogramCell, HistogramFamily, SeriesBudget } from "../series.ts";
import { DURATION_BOUNDS, errorTypeOf, GEN_AI_METRICS, operationOf, TOKEN_BOUNDS, usageOf } from "./gen-ai.ts";

const LABELS = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model"];
const MS = 1_000;
const MAX_SERIES = 10_000;
const MAX_CELLS = 2_000;

interface Cells {
  readonly duration: HistogramCell;
  readonly firstChunk: HistogramCell;
  readonly input: HistogramCell;
  readonly output: HistogramCell;
}

/** Receipts counted by OpenTelemetry's conventions; only for OTLP. */
export class GenAiMetrics {
  readonly #budget = new SeriesBudget(MAX_SERIES);
  readonly #cells = new Map<string, Cells>();
  /** Calls in a row are mostly alike. */
  #last: { receipt: Receipt; system: string; cells: Cells } | undefined;
  readonly #duration = this.#histogram(
    GEN_AI_METRICS.duration,
    "Duration of a call.",
    "error.type",
    DURATION_BOUNDS,
    MS,
  );
  readonly #firstChunk = this.#histogram(
    GEN_AI_METRICS.firstChunk,
    "Time to the first chunk of a stream.",
    undefined,
    DURATION_BOUNDS,
    MS,
  );
  readonly #tokens = this.#histogram(
    GEN_AI_METRICS.tokens,
    "Tokens used by a call.",
    "gen_ai.token.type",
    TOKEN_BOUNDS,
    1,
  );

  #histogram(name: string, help: string, label: string | undefined, bounds: readonly number[], unit: number) {
    const labels = label === undefined ? LABELS : [...LABELS, label];
    return new HistogramFamily({ name, help, labels, bounds, unit }, this.#budget);
  }

  /** `system`: as the conventions call the provider. */
  count(receipt: Receipt, system: string): void {
    const cells = this.#cellsOf(receipt, system);
    const { totalMs, firstContentMs, stream } = receipt;
    this.#duration.observe(cells.duration, totalMs);
    if (stream && firstContentMs !== undefined) this.#firstChunk.observe(cells.firstChunk, firstContentMs);
    const { input, output } = usageOf(receipt);
    if (input !== undefined) this.#tokens.observe(cells.input, input);
    if (output !== undefined) this.#tokens.observe(cells.output, output);
  }

  families(): Family[] {
    return [this.#duration, this.#firstChunk, this.#tokens].map((family) => family.family());
  }

  #cellsOf(receipt: Receipt, system: string): Cells {
    const last = this.#last;
    if (last !== undefined && last.system === system && areAlike(last.receipt, receipt)) return last.cells;
    const cells = this.#findCells(receipt, system);
    this.#last = { receipt, system, cells };
    return cells;
  }

  #findCells(receipt: Receipt, system: string): Cells {
    const { verb, clientDialect, model, upstreamModel, outcome } = receipt;
    const key = `${verb}\0${clientDialect}\0${system}\0${model}\0${upstreamModel}\0${outcome}`;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const values = [operationOf(receipt), system, model, upstreamModel];
    const cells: Cells = {
      duration: this.#duration.at(...values, errorTypeOf(outcome) ?? ""),
      firstChunk: this.#firstChunk.at(...values),
      input: this.#tokens.at(...values, "input"),
      output: this.#tokens.at(...values, "output"),
    };
    if (this.#cells.size < MAX_CELLS) this.#cells.set(key, cells);
    return cells;
  }
}

const areAlike = (one: Receipt, other: Receipt): boolean =>
  one.model === other.model &&
  one.upstreamModel === other.upstreamModel &&
  one.outcome === other.outcome &&
  one.verb === other.verb &&
  one.clientDialect === other.clientDialect;
