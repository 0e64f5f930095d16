import type { Clock } from "../base/clock.ts";
import { type CALL_LOGS, type CallFacts, type CallLevel, levelOfCall, type SettledCall } from "./call-line.ts";
import { type LogFields, type LogFormat, makeFormat } from "./format.ts";
import { LineWriter } from "./line-writer.ts";

/** From most to least verbose. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];
/** Above the level of every line. */
const SILENT = LOG_LEVELS.indexOf("silent");

/** Logs go to standard error; standard output is for the program's results. */
type Say = {
  (message: string): void;
  (fields: LogFields, message: string): void;
};

export interface Log {
  debug: Say;
  info: Say;
  warn: Say;
  error: Say;
  /** The one line of a call that was settled. */
  call(call: SettledCall, facts: CallFacts): void;
  /** Resolves with whether everything is written; after two seconds if there is no reader. */
  flush(): Promise<boolean>;
}

export interface LogOptions {
  clock: Clock;
  level: LogLevel;
  /** Which calls get a line. */
  calls?: (typeof CALL_LOGS)[number];
  format?: LogFormat;
  /** Where lines go instead of standard error. */
  write?: (text: string) => Promise<void>;
}

const silent = () => undefined;

/** Builds lines, buffers them briefly and writes them without blocking calls. */
export function createLog({ clock, level, calls = "all", format, write }: LogOptions): Log {
  const formatted = makeFormat(clock.wallMs, format);
  const least = LOG_LEVELS.indexOf(level);
  const leastOfCalls = calls === "off" ? SILENT : calls === "errors" ? LOG_LEVELS.indexOf("warn") : 0;
  const wanted = Math.max(least, leastOfCalls);
  const callLines = new CallLines((own, atMs, call, facts) => {
    if (LOG_LEVELS.indexOf(own) >= wanted) writer.add(formatted.call(own, atMs, call, facts));
  });
  const writer = new LineWriter(clock, {
    build: () => callLines.build(),
    tellLost: (lost) => formatted.line("warn", { lines: lost }, "dropped log lines because standard error is too slow"),
    write: write && ((bytes) => write(new TextDecoder().decode(bytes))),
  });
  const say = (own: Exclude<LogLevel, "silent">): Say => {
    if (LOG_LEVELS.indexOf(own) < least) return silent;
    return (first: string | LogFields, message?: string) => {
      const fields = typeof first === "string" ? undefined : first;
      // Lines stay in their order.
      callLines.build();
      writer.add(formatted.line(own, fields, typeof first === "string" ? first : (message ?? "")));
      writer.plan();
    };
  };
  return {
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    call: (call, facts) => {
      if (wanted === SILENT) return;
      callLines.add(call, facts, clock.wallMs());
      writer.plan();
    },
    flush: () => writer.flush(),
  };
}

interface WaitingCall {
  call: SettledCall;
  facts: CallFacts;
  /** When it was settled. */
  atMs: number;
}

/**
 * Lines are built for this many calls at a time: in a loop a line takes about half of the time that it takes between the steps of
 * a call. More of them would hold their receipts until the collector takes them for old (decision 0016).
 */
const AT_ONCE = 32;

/** Calls that are settled and whose lines are not built yet. */
class CallLines {
  readonly #write: (level: CallLevel, atMs: number, call: SettledCall, facts: CallFacts) => void;
  #waiting: WaitingCall[] = [];

  constructor(write: (level: CallLevel, atMs: number, call: SettledCall, facts: CallFacts) => void) {
    this.#write = write;
  }

  add(call: SettledCall, facts: CallFacts, atMs: number): void {
    if (this.#waiting.push({ call, facts, atMs }) >= AT_ONCE) this.build();
  }

  build(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { call, facts, atMs } of waiting) this.#write(levelOfCall(call, facts), atMs, call, facts);
  }
}
