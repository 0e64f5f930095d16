import { SQL } from "bun";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";

/** The same server, another database. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Makes a database; with a template it is a copy of that one, which takes a fraction of the time that all migrations take. */
export async function createDatabase(serverUrl: string, template?: string): Promise<string> {
  const name = `trivium_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const server = new SQL(serverUrl, { max: 1 });
  await server.unsafe(`CREATE DATABASE ${name}${template === undefined ? "" : ` TEMPLATE ${template}`}`);
  await server.close();
  return name;
}

/** Makes a database with every table and no row, which is not used itself: copies are made of it. Returns its name. */
export async function createTables(serverUrl: string): Promise<string> {
  const name = await createDatabase(serverUrl);
  const storage = await openStorage(databaseUrl(serverUrl, name), system.clock);
  await storage.close();
  return name;
}

/**
 * A template database that the test run created for all of its processes. An existing server has none, because it would remain
 * there.
 */
export const tablesOfRun = (): string | undefined => process.env["TRIVIUM_TEST_POSTGRES_TABLES"] || undefined;
