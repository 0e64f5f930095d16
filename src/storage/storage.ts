/** What a query may be given. Values only ever travel as parameters, never inside the text (S02). */
export type Parameter = string | number | null;

/** One row as the engine gives it; `columns.ts` reads values out of it the same way for both engines. */
export type StoredRow = Readonly<Record<string, unknown>>;

export interface Queries {
  /** Runs one statement. `?` stands for each parameter, in order, on every engine. */
  query(text: string, parameters?: readonly Parameter[]): Promise<readonly StoredRow[]>;
}

/** The one durable store of the gateway: SQLite or PostgreSQL, the same queries on both. */
export interface Storage extends Queries {
  readonly engine: "sqlite" | "postgres";
  /**
   * Runs `work` in one transaction: all of it is kept, or none. Inside, only the queries handed to `work` may be used;
   * the storage's own would wait for this transaction to end.
   */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** Runs one statement for each row of parameters: all of them are kept, or none. */
  runForEach(text: string, rows: readonly (readonly Parameter[])[]): Promise<void>;
  /** Changes whenever any process creates or revokes a key; cheap enough to ask twice a second. */
  changeStamp(): Promise<string>;
  close(): Promise<void>;
}
