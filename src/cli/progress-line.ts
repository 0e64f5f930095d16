const REDRAW_MS = 1_000;
const REPEAT_MS = 10_000;

/** On a terminal, a line that is rewritten once a second; elsewhere a new line every ten seconds. */
export class ProgressLine {
  readonly #out: { isTTY?: boolean; write(text: string): unknown };
  readonly #label: string;
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  #percent: number | undefined;
  #timer: Timer | undefined;

  constructor(
    label: string,
    out: { isTTY?: boolean; write(text: string): unknown },
    nowMs: () => number,
    everyMs = out.isTTY ? REDRAW_MS : REPEAT_MS,
  ) {
    this.#label = label;
    this.#out = out;
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
    this.#timer = setInterval(() => this.#draw(), everyMs);
    if (out.isTTY) this.#draw();
  }

  /** The progress, if known. */
  set(percent: number | undefined): void {
    this.#percent = percent ?? this.#percent;
    if (this.#timer && this.#out.isTTY) this.#draw();
  }

  /** Clears the line for whatever is printed next. */
  stop(): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#out.isTTY) this.#out.write("\r\x1b[2K");
  }

  #draw(): void {
    const seconds = Math.floor((this.#nowMs() - this.#startedAtMs) / 1000);
    const elapsed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const percent = this.#percent === undefined ? "" : `  ${this.#percent} %`;
    const line = `${this.#label}${percent}  ${elapsed}`;
    this.#out.write(this.#out.isTTY ? `\r\x1b[2K${line}` : `${line}\n`);
  }
}
