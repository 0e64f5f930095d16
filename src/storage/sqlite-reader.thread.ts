/** Runs in a separate thread: see sqlite-reader.ts. */
import { Database } from "bun:sqlite";
import { makeWayForCalls } from "../base/make-way-for-calls.ts";
import type { Parameter, StoredRow } from "./storage.ts";

declare const self: Worker;

export interface ReaderQuestion {
  number: number;
  text: string;
  parameters: readonly Parameter[];
}

export type ReaderAnswer = { number: number } & ({ rows: StoredRow[] } | { problem: string });

/** A writer that resets the log blocks readers for a moment. */
const BUSY_MS = 1_000;

makeWayForCalls();

const database = new Database(process.argv.at(-1), { readonly: true, strict: true });
database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);

self.onmessage = ({ data: { number, text, parameters } }: MessageEvent<ReaderQuestion>) => {
  let answer: ReaderAnswer;
  try {
    const statement = database.prepare<StoredRow, Parameter[]>(text);
    answer = { number, rows: statement.all(...parameters) };
    statement.finalize();
  } catch (thrown) {
    answer = { number, problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  self.postMessage(answer);
};
