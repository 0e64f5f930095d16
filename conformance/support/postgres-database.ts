import { SQL } from "bun";
import { createDatabase, databaseUrl, tablesOfRun } from "../../testing/postgres-tables.ts";

/** The server that the suite runs against; undefined if PostgreSQL is not installed. */
export const postgresServer: string | undefined = process.env["TRIVIUM_TEST_POSTGRES"] || undefined;

export interface PostgresDatabase {
  url: URL;
  /** Straight to the server, past any relay. */
  sql: SQL;
  drop(): Promise<void>;
}

/**
 * A separate database on the suite's server. It has its tables already if the run has created them, since that is not
 * what its users test, except for those who need it empty.
 */
export async function makeDatabase({ isEmpty = false } = {}): Promise<PostgresDatabase> {
  const serverUrl = postgresServer ?? "";
  const name = await createDatabase(serverUrl, isEmpty ? undefined : tablesOfRun());
  const url = new URL(databaseUrl(serverUrl, name));
  const sql = new SQL(url.href, { max: 2 });
  return {
    url,
    sql,
    drop: async () => {
      await sql.close({ timeout: 1 });
      const server = new SQL(serverUrl, { max: 1 });
      await server.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await server.close({ timeout: 1 });
    },
  };
}
