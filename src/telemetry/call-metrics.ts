import type { GuardVerdict } from "../canon/guard/guard-verdict.ts";
import type { OfferTried, Receipt } from "../canon/receipt.ts";
import { completionTokens, USAGE_COUNTERS, type UsageCounter } from "../canon/usage.ts";
import { makeCallFamilies } from "./call-families.ts";
import { counter, type Family } from "./family.ts";
import { outcomeClass } from "./outcome-class.ts";
import { type Cell, type HistogramCell, SeriesBudget } from "./series.ts";

/** Facts about a settled call in addition to its receipt. */
interface Settled {
  receipt: Receipt;
  /** From its arrival to its first attempt; undefined where it was not measured. */
  admissionMs: number | undefined;
}

interface CallMetricsOptions {
  maxSeries?: number;
  /** Another counter of the same receipts. */
  alsoCount?: ((receipt: Receipt) => void) | undefined;
}

/** The series of calls with the same labels. */
interface CallCells {
  readonly calls: Cell;
  readonly duration: HistogramCell;
  readonly firstContent: HistogramCell;
  readonly speed: HistogramCell;
  readonly admission: HistogramCell;
  readonly cost: Cell;
  /** Of attempts that its own provider answered. */
  answered: { readonly attempts: Cell; readonly duration: HistogramCell } | undefined;
  readonly tokens: Partial<Record<UsageCounter, Cell>>;
}

interface GuardCount extends Pick<GuardVerdict, "on" | "verdict"> {
  calls: number;
}

const MAX_SERIES = 10_000;
/** Series of refusals, with one of each key. */
const MAX_REFUSALS = 1_000;
/** Receipts that are not yet counted; a scrape counts them all. */
const BATCH = 64;

const TOKEN_KIND: Readonly<Partial<Record<UsageCounter, string>>> = {
  input: "input",
  cacheRead: "cache_read",
  cacheWrite5m: "cache_write",
  cacheWrite1h: "cache_write",
  output: "output",
  reasoning: "reasoning",
  imageInput: "image_input",
  audioInput: "audio_input",
  imageOutput: "image_output",
  audioOutput: "audio_output",
};
const TOKEN_COUNTERS = USAGE_COUNTERS.filter((name) => TOKEN_KIND[name] !== undefined);

/**
 * Totals of the receipts of this process. A call only hands over its receipt; receipts are counted in batches, and on each
 * scrape. Label values come only from closed sets: names in the configuration, and words of the gateway.
 */
export class CallMetrics {
  readonly #budget: SeriesBudget;
  readonly #families: ReturnType<typeof makeCallFamilies>;
  readonly #cells = new Map<string, CallCells>();
  readonly #refusals = new Map<string, Cell>();
  /** By guard, of which a configuration has few. */
  readonly #guardVerdicts = new Map<string, GuardCount[]>();
  readonly #alsoCount: CallMetricsOptions["alsoCount"];
  #waiting: Settled[] = [];
  #last: Receipt | undefined;
  #lastCells: CallCells | undefined;

  constructor({ maxSeries = MAX_SERIES, alsoCount }: CallMetricsOptions = {}) {
    this.#alsoCount = alsoCount;
    this.#budget = new SeriesBudget(maxSeries);
    this.#families = makeCallFamilies(this.#budget);
  }

  settled(receipt: Receipt, admissionMs?: number): void {
    if (this.#waiting.push({ receipt, admissionMs }) >= BATCH) this.#count();
  }

  /** A request was rejected. `reason`: the error kind; `key`: the id of its key, if known. */
  refused(reason: string, key: string | undefined, addressClass: string): void {
    const name = `${reason}\0${key ?? ""}\0${addressClass}`;
    let cell = this.#refusals.get(name);
    if (cell === undefined) {
      // Keys beyond the limit are counted together, separately for each reason.
      const isRoom = this.#refusals.size < MAX_REFUSALS;
      cell = this.#families.refusals.at(reason, isRoom ? (key ?? "none") : "other", addressClass);
      if (isRoom) this.#refusals.set(name, cell);
    }
    cell.value++;
  }

  families(): Family[] {
    this.#count();
    return [
      ...Object.values(this.#families).map((family) => family.family()),
      counter(
        "trivium_metrics_dropped_series_total",
        "Series that were not created because there are too many; their values count in the series whose labels are all `other`.",
        this.#budget.dropped,
      ),
    ];
  }

  #count(): void {
    const settled = this.#waiting;
    this.#waiting = [];
    for (const { receipt, admissionMs } of settled) {
      this.#countOne(receipt, admissionMs);
      this.#alsoCount?.(receipt);
    }
  }

  #countOne(receipt: Receipt, admissionMs: number | undefined): void {
    const { usage, totalMs, firstContentMs, offers, fields, costNanoUsd } = receipt;
    const families = this.#families;
    const cells = this.#cellsOf(receipt);
    cells.calls.value++;
    cells.cost.value += costNanoUsd;
    families.duration.observe(cells.duration, totalMs);
    if (firstContentMs !== undefined) {
      families.firstContent.observe(cells.firstContent, firstContentMs);
      const tokens = completionTokens(usage);
      const madeMs = totalMs - firstContentMs;
      if (tokens > 1 && madeMs > 0) families.speed.observe(cells.speed, (tokens * 1000) / madeMs);
    }
    if (admissionMs !== undefined) families.admission.observe(cells.admission, admissionMs);
    this.#countUsage(receipt, cells);
    if (receipt.unpriced !== undefined) {
      families.unpriced.at(receipt.model, receipt.provider).value++;
      for (const name of receipt.unpriced) families.unpricedUses.at(name).value++;
    }
    for (const reason of receipt.corrected?.reasons ?? []) families.corrected.at(receipt.provider, reason).value++;
    const [tried] = offers;
    if (offers.length === 1 && tried?.outcome === "answered" && tried.provider === receipt.provider) {
      this.#countAnswered(tried, cells);
    } else for (const [index, one] of offers.entries()) this.#countAttempt(one, offers[index + 1]);
    for (const { name, on, verdict, ms } of receipt.guards ?? []) {
      families.guardVerdicts.at(name, on, verdict).value++;
      this.#countVerdict(name, on, verdict);
      families.guardDuration.observe(families.guardDuration.at(name, on), ms);
    }
    for (const { action } of fields) {
      families.fields.at(receipt.clientDialect, receipt.upstreamDialect, action).value++;
    }
    if (offers.at(-1)?.outcome === "answered" && outcomeClass(receipt.outcome) === "failed") {
      families.breaks.at(receipt.provider).value++;
    }
  }

  #countVerdict(name: string, on: GuardVerdict["on"], verdict: GuardVerdict["verdict"]): void {
    const counts = this.#guardVerdicts.get(name) ?? [];
    this.#guardVerdicts.set(name, counts);
    const known = counts.find((one) => one.on === on && one.verdict === verdict);
    if (known === undefined) counts.push({ on, verdict, calls: 1 });
    else known.calls++;
  }

  /** How many calls a guard has given each verdict. */
  guardVerdicts(name: string): GuardCount[] {
    this.#count();
    return (this.#guardVerdicts.get(name) ?? []).map((count) => ({ ...count }));
  }

  #countUsage({ usage, model, provider, verb }: Receipt, cells: CallCells): void {
    for (const counted of TOKEN_COUNTERS) {
      const amount = usage[counted];
      if (amount) this.#tokenCell(counted, model, provider, cells).value += amount;
    }
    const families = this.#families;
    if (usage.images) families.images.at(model, provider).value += usage.images;
    if (usage.searches) families.searches.at(model, provider).value += usage.searches;
    if (usage.seconds) {
      const made = verb === "videos" ? families.videoSeconds : families.audioSeconds;
      made.at(model, provider).value += usage.seconds;
    }
  }

  #tokenCell(counted: UsageCounter, model: string, provider: string, { tokens }: CallCells): Cell {
    tokens[counted] ??= this.#families.tokens.at(model, provider, TOKEN_KIND[counted] ?? counted);
    return tokens[counted];
  }

  /** The usual case, without looking for its series. */
  #countAnswered({ provider, ms }: OfferTried, cells: CallCells): void {
    const { attempts, attemptDuration } = this.#families;
    cells.answered ??= { attempts: attempts.at(provider, "answered"), duration: attemptDuration.at(provider) };
    cells.answered.attempts.value++;
    attemptDuration.observe(cells.answered.duration, ms);
  }

  #countAttempt({ provider, outcome, reason, ms }: OfferTried, next: OfferTried | undefined): void {
    const { attempts, attemptDuration, fallbacks } = this.#families;
    attempts.at(provider, outcome === "failed" ? (reason ?? "internal") : outcome).value++;
    if (outcome === "answered") attemptDuration.observe(attemptDuration.at(provider), ms);
    if (next !== undefined && next.provider !== provider) fallbacks.at(provider, next.provider).value++;
  }

  /** Calls in a row are mostly alike. */
  #cellsOf(receipt: Receipt): CallCells {
    if (this.#lastCells === undefined || this.#last === undefined || !areAlike(this.#last, receipt)) {
      this.#lastCells = this.#findCells(receipt);
      this.#last = receipt;
    }
    return this.#lastCells;
  }

  #findCells(receipt: Receipt): CallCells {
    const { verb, clientDialect, model, provider, lane, stream, outcome, project } = receipt;
    const key = `${model}\0${provider}\0${outcome}\0${project}\0${verb}\0${clientDialect}\0${lane}\0${stream}`;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const families = this.#families;
    const cells: CallCells = {
      calls: families.calls.at(verb, clientDialect, model, provider, lane, String(stream), outcome),
      duration: families.duration.at(model, provider, outcomeClass(outcome)),
      firstContent: families.firstContent.at(model, provider, lane),
      speed: families.speed.at(model, provider),
      admission: families.admission.at(lane),
      cost: families.cost.at(model, provider, project),
      tokens: {},
      answered: undefined,
    };
    // Projects come and go: what is kept here of them is no more than there are series.
    if (this.#cells.size < MAX_SERIES) this.#cells.set(key, cells);
    return cells;
  }
}

const areAlike = (one: Receipt, other: Receipt): boolean =>
  one.model === other.model &&
  one.provider === other.provider &&
  one.outcome === other.outcome &&
  one.project === other.project &&
  one.verb === other.verb &&
  one.clientDialect === other.clientDialect &&
  one.lane === other.lane &&
  one.stream === other.stream;
