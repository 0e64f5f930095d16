import { inOnePiece } from "../base/one-piece.ts";
import type { CallFacts, CallLevel, FailedAttempt, SettledCall } from "./call-line.ts";

export const LOG_FORMATS = ["auto", "text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Fields that are logged with the message; `err` is a thrown value. */
export type LogFields = Readonly<Record<string, unknown>>;

type Level = CallLevel | "debug";

/** How lines are written, each with its end. */
interface Format {
  line(level: Level, fields: LogFields | undefined, message: string): string;
  /** `atMs`: when it was settled. */
  call(level: CallLevel, atMs: number, call: SettledCall, facts: CallFacts): string;
}

interface Terminal {
  isTTY?: boolean;
}

/** Text on a terminal, JSON elsewhere, unless configured. */
export function makeFormat(
  wallMs: () => number,
  format: LogFormat = "auto",
  { isTTY = false }: Terminal = process.stderr,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Format {
  const time = timeStamps(wallMs);
  if (format === "json" || (format === "auto" && !isTTY)) return jsonFormat(time);
  return textFormat(time, isTTY && wantsColour(environment));
}

/** https://no-color.org */
export const wantsColour = ({ NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>): boolean =>
  !NO_COLOR && TERM !== "dumb";

/** Many lines share one millisecond, and formatting a date costs more than the rest of a line. */
function timeStamps(wallMs: () => number): (atMs?: number) => string {
  let lastMs = Number.NaN;
  let lastTime = "";
  return (ms = wallMs()) => {
    if (ms !== lastMs) {
      lastMs = ms;
      lastTime = new Date(ms).toISOString();
    }
    return lastTime;
  };
}

// --- for programs ---

const jsonFormat = (time: (atMs?: number) => string): Format => ({
  line: (level, fields, message) => {
    const shown = fields === undefined ? "" : JSON.stringify(fields, showError).slice(1, -1);
    return `{"time":"${time()}","level":"${level}","msg":${JSON.stringify(message)}${shown === "" ? "" : `,${shown}`}}\n`;
  },
  // Written field by field: this line is written for every call.
  call: (level, atMs, call, { requestId, trace, host, failures }) => {
    const { usage } = call;
    return (
      `{"time":"${time(atMs)}","level":"${level}","msg":"call"${requestId === undefined ? "" : `,"request_id":"${requestId}"`}${traced(trace)},"receipt":"${call.id}"` +
      `${names.of(call, host)},"attempts":${call.offers.length}${failures.length === 0 ? "" : `,"failures":${JSON.stringify(failures)}`}` +
      `${count("first_content_ms", call.firstContentMs)},"total_ms":${call.totalMs}` +
      `${count("input", usage.input)}${count("cache_read", usage.cacheRead)}` +
      `${count("cache_write", sum(usage.cacheWrite5m, usage.cacheWrite1h))}` +
      `${count("output", usage.output)}${count("reasoning", usage.reasoning)}` +
      `${count("images", usage.images)}${count("seconds", usage.seconds)}` +
      `,"cost_nano_usd":${call.costNanoUsd}${call.fields.length === 0 ? "" : `,"fields":${call.fields.length}`}}\n`
    );
  },
});

const traced = (trace: CallFacts["trace"]): string =>
  trace === undefined ? "" : `,"trace_id":"${trace.traceId}","span_id":"${trace.spanId}"`;

const text = (name: string, value: string | undefined): string => (value ? `,"${name}":${JSON.stringify(value)}` : "");

/** Who called what, as JSON. Consecutive calls often agree in all of it, so the last one is cached. */
class CallNames {
  #call: SettledCall | undefined;
  #host: string | undefined;
  #shown = "";

  of(call: SettledCall, host: string | undefined): string {
    const last = this.#call;
    if (last === undefined || this.#host !== host || !namesAlike(last, call)) {
      this.#shown = inOnePiece(
        `${text("project", call.project)}${text("key_id", call.key)},"verb":"${call.verb}"` +
          `,"dialect":"${call.clientDialect}","upstream_dialect":"${call.upstreamDialect}","lane":"${call.lane}"` +
          `${text("model", call.model)}${text("provider", call.provider)}${text("host", host)}` +
          `${text("upstream_model", call.upstreamModel)},"stream":${call.stream},"outcome":"${call.outcome}"`,
      );
      this.#call = call;
      this.#host = host;
    }
    return this.#shown;
  }
}

const namesAlike = (one: SettledCall, other: SettledCall): boolean =>
  one.key === other.key &&
  one.model === other.model &&
  one.provider === other.provider &&
  one.upstreamModel === other.upstreamModel &&
  one.outcome === other.outcome &&
  one.stream === other.stream &&
  one.verb === other.verb &&
  one.clientDialect === other.clientDialect &&
  one.upstreamDialect === other.upstreamDialect &&
  one.lane === other.lane &&
  one.project === other.project;

const names = new CallNames();

const count = (name: string, value: number | undefined): string => (value === undefined ? "" : `,"${name}":${value}`);
const sum = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0);

const DEEPEST_CAUSE = 4;

function showError(_name: string, value: unknown): unknown {
  return value instanceof Error ? describeError(value) : value;
}

function describeError(error: Error, depth = 0): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const because = cause instanceof Error && depth < DEEPEST_CAUSE ? { cause: describeError(cause, depth + 1) } : {};
  return { type: name, message, ...code, stack, ...because };
}

// --- for people ---

const CODES: Readonly<Record<Level, number>> = { debug: 90, info: 32, warn: 33, error: 31 };

function textFormat(time: (atMs?: number) => string, colour: boolean): Format {
  const paint = (code: number, shown: string) => (colour ? `\x1b[${code}m${shown}\x1b[0m` : shown);
  const begin = (level: Level, atMs?: number) =>
    `${paint(90, time(atMs).slice(11, 23))} ${paint(CODES[level], level.padEnd(5))} `;
  return {
    line: (level, fields, message) => `${begin(level)}${plain(message, true)}${tellFields(fields)}\n`,
    call: (level, atMs, call, facts) => {
      const parts = [
        call.model,
        call.outcome === "ok" ? "" : paint(CODES[level], call.outcome),
        tellTimes(call),
        tellUsage(call),
        `$${(call.costNanoUsd / 1e9).toFixed(6)}`,
        [call.provider, facts.host ? `(${facts.host})` : ""].join(" ").trim(),
        call.offers.length > 1 ? `${call.offers.length} attempts` : "",
        `${call.project}/${call.key}`,
        paint(90, call.id),
      ];
      const failures = facts.failures.map((failure) => `\n             ${plain(tellFailure(failure))}`);
      return `${begin(level, atMs)}${parts.filter((part) => part !== "").join("  ")}${failures.join("")}\n`;
    },
  };
}

const tellTimes = ({ firstContentMs, totalMs, stream }: SettledCall): string =>
  stream && firstContentMs !== undefined ? `${totalMs} ms (first ${firstContentMs})` : `${totalMs} ms`;

function tellUsage({ usage }: SettledCall): string {
  const fields = [
    ["in", usage.input],
    ["cached", usage.cacheRead],
    ["out", usage.output],
    ["reasoning", usage.reasoning],
    ["images", usage.images],
    ["seconds", usage.seconds],
  ] as const;
  return fields.flatMap(([name, value]) => (value ? [`${name} ${value}`] : [])).join(" ");
}

function tellFailure({ provider, host, status, errno, kind, cure }: FailedAttempt): string {
  const what = status === undefined ? errno : `HTTP ${status}`;
  return `${provider}${host ? ` (${host})` : ""}: ${kind}${what ? `, ${what}` : ""}${cure ? `; ${cure}` : ""}`;
}

function tellFields(fields: LogFields | undefined): string {
  if (fields === undefined) return "";
  const words = Object.entries(fields).map(([name, value]) => {
    if (value instanceof Error) return `\n${plain(value.stack ?? value.message, true)}${tellCause(value)}`;
    return ` ${name}=${plain(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))}`;
  });
  return words.join("");
}

function tellCause({ cause }: Error, depth = 0): string {
  if (!(cause instanceof Error) || depth === DEEPEST_CAUSE) return "";
  return `\n  because: ${plain(cause.stack ?? cause.message, true)}${tellCause(cause, depth + 1)}`;
}

/** Nothing that a client sent can move the cursor or begin a new line. */
function plain(value: string, lines = false): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return value.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    lines && character === "\n" ? "\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
