/** Runs in a separate thread: see sqlite-reader.ts. */
import { Database } from "bun:sqlite";
import { makeWayForCalls } from "../base/make-way-for-calls.ts";
import type { Parameter, StoredRow } from "./storage.ts";

declare const self: Worker;

export interface ReaderQuestion {
  number: number;
  text: string;
  parameters: readonly Parameter[];
  /** On a connection that may write. */
  writes?: boolean;
}

export type ReaderAnswer = { number: number } & ({ rows: StoredRow[] } | { problem: string });

/** A writer that resets the log blocks readers for a moment. */
const BUSY_MS = 1_000;

makeWayForCalls();

const PATH = process.argv.at(-1);
const database = new Database(PATH, { readonly: true, strict: true });
database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);

function openForWriting(): Database {
  const opened = new Database(PATH, { create: false, readwrite: true, strict: true });
  opened.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return opened;
}

self.onmessage = ({ data: { number, text, parameters, writes } }: MessageEvent<ReaderQuestion>) => {
  let answer: ReaderAnswer;
  try {
    const connection = writes ? openForWriting() : database;
    const statement = connection.prepare<StoredRow, Parameter[]>(text);
    answer = { number, rows: statement.all(...parameters) };
    statement.finalize();
    if (writes) connection.close();
  } catch (thrown) {
    answer = { number, problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  self.postMessage(answer);
};
