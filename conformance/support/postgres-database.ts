import { SQL } from "bun";

/** The server that the suite runs against; undefined where PostgreSQL is not installed. */
export const postgresServer: string | undefined = process.env["TRIVIUM_TEST_POSTGRES"] || undefined;

export interface PostgresDatabase {
  url: URL;
  /** Straight to the server, past any relay. */
  sql: SQL;
  drop(): Promise<void>;
}

/** A database of its own on the suite's server. */
export async function makeDatabase(): Promise<PostgresDatabase> {
  const url = new URL(postgresServer ?? "");
  const name = `trivium_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const server = new SQL(url.href, { max: 1 });
  await server.unsafe(`CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  const sql = new SQL(url.href, { max: 2 });
  return {
    url,
    sql,
    drop: async () => {
      await sql.close({ timeout: 1 });
      await server.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await server.close({ timeout: 1 });
    },
  };
}
