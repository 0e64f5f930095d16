/** The values that a query takes. They are always sent as parameters, never inside the text (S02). */
export type Parameter = string | number | null | Uint8Array;

/** One row as returned by the engine; `columns.ts` reads its values the same way for both engines. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** How often the keys and the catalogue have changed, and how many questions processes have asked each other. */
export interface ChangeStamp {
  keys: number;
  catalogue: number;
  questions: number;
}

/** How long a statement, or a transaction as a whole, may take by default (H29). */
export const STATEMENT_MS = 5_000;
/** For reports over the whole ledger. In SQLite such a statement, which only reads, runs in a separate thread. */
export const REPORT_MS = 30_000;
/** For sums that a start needs from a ledger of any size. A lost response must not delay it for longer. */
export const START_SUMS_MS = 300_000;
/** For migrations of tables of any size at the start, while nothing else waits. */
export const MIGRATION_MS = 1_800_000;

/** A statement with its parameters. */
export type BoundStatement = readonly [text: string, parameters: readonly Parameter[]];
/** Statements that follow the rows of `runForEach`. */
export interface FollowUp {
  /** A statement whose rows are read first, in the same transaction. */
  given: string;
  /** `changes`: how many rows each row of parameters has changed. */
  statements: (changes: readonly number[], given: readonly StoredRow[]) => readonly BoundStatement[];
}

export interface Queries {
  /** Runs one statement. `?` marks each parameter, in order, on every engine. */
  query(text: string, parameters?: readonly Parameter[], limitMs?: number): Promise<readonly StoredRow[]>;
}

/**
 * The durable store of the gateway: SQLite or PostgreSQL, with the same queries on both. Every query ends in time,
 * with a `StorageTimeout` if the store does not answer.
 */
export interface Storage extends Queries {
  readonly engine: "sqlite" | "postgres";
  /**
   * Runs `work` in one transaction: all of it is kept, or none. Inside, use only the queries passed to `work`; the
   * storage's own would wait for this transaction to end.
   */
  transaction<Result>(work: (queries: Queries) => Promise<Result>, limitMs?: number): Promise<Result>;
  /** Runs one statement for each row of parameters, and then the follow-up: all of it is kept, or none. */
  runForEach(text: string, rows: readonly (readonly Parameter[])[], followUp?: FollowUp): Promise<void>;
  /** Changes whenever any process changes a key, a limit or a price, or asks the others; cheap enough to read five times a second. */
  changeStamp(): Promise<ChangeStamp>;
  close(): Promise<void>;
}
