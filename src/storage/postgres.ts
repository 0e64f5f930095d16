import { SQL } from "bun";
import { readKeyChanges } from "./change-counter.ts";
import type { Parameter, Queries, Storage, StoredRow } from "./storage.ts";

const CONNECT_WAIT_SECONDS = 10;

/** PostgreSQL's text cannot hold a NUL; a hostile string with one is still only data, and finds nothing. */
export function postgresText(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}

export class PostgresStorage implements Storage {
  readonly engine = "postgres";
  readonly #sql: SQL;

  private constructor(sql: SQL) {
    this.#sql = sql;
  }

  static async open(url: URL): Promise<PostgresStorage> {
    const database = decodeURIComponent(url.pathname.slice(1));
    const sql = new SQL({
      url,
      connectionTimeout: CONNECT_WAIT_SECONDS,
      // Named here as well, because PGDATABASE in the environment would win over the name in the address.
      ...(database === "" ? {} : { database }),
    });
    await sql.connect();
    return new PostgresStorage(sql);
  }

  query(text: string, parameters: readonly Parameter[] = []): Promise<readonly StoredRow[]> {
    return run(this.#sql, text, parameters);
  }

  async transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    const outcome = await this.#sql.begin(async (connection) => {
      const queries: Queries = { query: (text, parameters = []) => run(connection, text, parameters) };
      return { result: await work(queries) };
    });
    return outcome.result;
  }

  runForEach(text: string, rows: readonly (readonly Parameter[])[]): Promise<void> {
    return this.transaction(async (queries) => {
      for (const row of rows) await queries.query(text, row);
    });
  }

  changeStamp(): Promise<string> {
    return readKeyChanges(this);
  }

  async close(): Promise<void> {
    await this.#sql.close({ timeout: 5 });
  }
}

async function run(sql: SQL, text: string, parameters: readonly Parameter[]): Promise<readonly StoredRow[]> {
  const values = parameters.map((value) => (typeof value === "string" ? postgresText(value) : value));
  return await sql.unsafe<StoredRow[]>(numbered(text), values);
}

/** `?` written as PostgreSQL writes it: `$1`, `$2`, … None of our statements has a question mark of its own. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll("?", () => {
    count += 1;
    return `$${count}`;
  });
}
