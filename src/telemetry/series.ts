import type { Family, Sample } from "./family.ts";

/** A value that only grows. */
export interface Cell {
  value: number;
}

export interface HistogramCell {
  /** Of each bucket alone; the last one is for what is above all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

interface Description {
  name: string;
  help: string;
  labels: readonly string[];
  /** The factor from the counted to the shown unit: amounts are summed as whole numbers. */
  unit?: number;
}

interface HistogramDescription extends Description {
  /** Upper bounds, as they are shown. */
  bounds: readonly number[];
}

/** The label value of everything beyond the maximum number of series, so that totals stay correct. */
const OVERFLOW = "other";

/** How many series a process may have, of all its metrics together. */
export class SeriesBudget {
  readonly #most: number;
  #used = 0;
  /** The number of series that were not created. */
  dropped = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(count: number): boolean {
    if (this.#used + count > this.#most) {
      this.dropped++;
      return false;
    }
    this.#used += count;
    return true;
  }
}

abstract class LabelledFamily<Held> {
  protected readonly cells = new Map<string, { values: readonly string[]; held: Held }>();
  readonly description: Description;
  readonly #budget: SeriesBudget;

  constructor(description: Description, budget: SeriesBudget) {
    this.description = description;
    this.#budget = budget;
  }

  protected abstract make(): Held;
  /** The number of series for one set of labels. */
  protected abstract readonly width: number;

  /** The cell for these values, in the order of the labels' names. Keep it: finding it costs more than counting. */
  at(...values: readonly string[]): Held {
    const key = values.join("\0");
    const known = this.cells.get(key);
    if (known !== undefined) return known.held;
    const isOverflow = values.every((value) => value === OVERFLOW);
    if (!isOverflow && !this.#budget.take(this.width)) return this.at(...values.map(() => OVERFLOW));
    const held = this.make();
    this.cells.set(key, { values, held });
    return held;
  }

  protected labelsOf(values: readonly string[]): Sample["labels"] {
    return this.description.labels.map((name, index) => [name, values[index] ?? ""] as const);
  }
}

export class CounterFamily extends LabelledFamily<Cell> {
  protected readonly width = 1;

  protected make(): Cell {
    return { value: 0 };
  }

  family(): Family {
    const { name, help, unit = 1 } = this.description;
    const samples = [...this.cells.values()].map(({ values, held }) => ({
      labels: this.labelsOf(values),
      value: held.value / unit,
    }));
    return { name, help, type: "counter", samples };
  }
}

export class HistogramFamily extends LabelledFamily<HistogramCell> {
  readonly #bounds: readonly number[];
  readonly #scaled: readonly number[];

  constructor(description: HistogramDescription, budget: SeriesBudget) {
    super(description, budget);
    const { unit = 1, bounds } = description;
    this.#bounds = bounds;
    this.#scaled = bounds.map((bound) => bound * unit);
  }

  protected get width(): number {
    return this.#bounds.length + 3;
  }

  protected make(): HistogramCell {
    return { counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
  }

  /** The value is in the unit that is summed up. */
  observe(cell: HistogramCell, value: number): void {
    const bounds = this.#scaled;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++;
    cell.counts[at] = (cell.counts[at] ?? 0) + 1;
    cell.sum += value;
  }

  family(): Family {
    const { name, help } = this.description;
    return { name, help, type: "histogram", samples: [...this.cells.values()].flatMap((cell) => this.#samples(cell)) };
  }

  #samples({ values, held }: { values: readonly string[]; held: HistogramCell }): Sample[] {
    const labels = this.labelsOf(values);
    let count = 0;
    const buckets = [...this.#bounds.map(String), "+Inf"].map((bound, index): Sample => {
      count += held.counts[index] ?? 0;
      return { suffix: "_bucket", labels: [...labels, ["le", bound]], value: count };
    });
    const sum = held.sum / (this.description.unit ?? 1);
    return [...buckets, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: count }];
  }
}
