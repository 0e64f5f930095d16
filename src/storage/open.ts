import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../canon/error.ts";
import { latestOf, migrate, tooNew, versionOf } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { PostgresStorage } from "./postgres.ts";
import { redactStorageUrl, sqlitePath } from "./redact-storage-url.ts";
import { SqliteStorage } from "./sqlite.ts";
import type { Storage } from "./storage.ts";
import { storageFailure } from "./storage-failure.ts";
import { keepUpgradeCopy } from "./upgrade-copy.ts";

/**
 * For PostgreSQL. The runtime opens all connections of a pool at once, each a process of the server, but a command
 * runs one query after the other.
 */
const FEW_CONNECTIONS = 2;
/** The version of the tables that this program uses. */
export const LATEST_VERSION = latestOf(MIGRATIONS);
/** For a gateway, which runs many queries at once. */
const MANY_CONNECTIONS = 10;
/** For all workers together, unless there are very many: PostgreSQL accepts a hundred by default. */
const CONNECTIONS_OF_WORKERS = 40;

/** How many connections each of so many processes opens. */
export const connectionsOf = (processes: number): number =>
  Math.max(FEW_CONNECTIONS, Math.min(MANY_CONNECTIONS, Math.floor(CONNECTIONS_OF_WORKERS / processes)));

/**
 * Opens `sqlite:<path>`, `sqlite::memory:` or `postgres://…`, and brings its tables up to date. Only `serve` and `migrate` do
 * that. Of a SQLite file, a copy from before is kept.
 */
export async function openStorage(
  url: string,
  clock: Clock,
  statementMs?: number,
  { migrations = MIGRATIONS, connections = FEW_CONNECTIONS, keepCopy = true } = {},
): Promise<Storage> {
  const storage = await connect(url, clock, connections, statementMs);
  const file = sqlitePath(url);
  const copies = keepCopy && file !== undefined && file !== ":memory:";
  try {
    const keep = (found: number, target: number) => {
      if (copies) keepUpgradeCopy(file, found, target);
    };
    await migrate(storage, migrations, clock.wallMs(), keep);
  } catch (thrown) {
    await storage.close();
    throw storageFailure(thrown, url);
  }
  return storage;
}

/** Opens a storage whose tables are those of this program, and changes none of them. With `mayCreate` it makes them where there are none. */
export async function openCurrent(url: string, clock: Clock, { mayCreate = false } = {}): Promise<Storage> {
  const { storage, version } = await openUnchanged(url, clock);
  if (version === LATEST_VERSION) return storage;
  await storage.close();
  if (version > LATEST_VERSION) throw tooNew(version, LATEST_VERSION);
  if (version === 0 && mayCreate) return openStorage(url, clock);
  const shown = redactStorageUrl(url);
  throw new GatewayError(
    "invalid_request",
    version === 0
      ? `There are no tables in ${shown}. Start the gateway once to create them, or pass another configuration with --config.`
      : `The tables in ${shown} are at version ${version}; this program needs version ${LATEST_VERSION}. Start the gateway or run \`trivium migrate\` to upgrade them, ` +
          "or use the program that wrote them. `trivium upgrade --check` lists the changes.",
  );
}

/** Opens a storage without changing its tables, whatever their version. 0 means that there are none. */
export async function openUnchanged(url: string, clock: Clock): Promise<{ storage: Storage; version: number }> {
  const storage = await connect(url, clock, FEW_CONNECTIONS);
  try {
    return { storage, version: await versionOf(storage) };
  } catch (thrown) {
    await storage.close();
    throw storageFailure(thrown, url);
  }
}

async function connect(url: string, clock: Clock, connections: number, statementMs?: number): Promise<Storage> {
  const path = sqlitePath(url);
  if (path !== undefined) {
    if (path === "")
      throw new GatewayError(
        "invalid_request",
        "`storage` does not name a file. Set it to, for example, sqlite:./data/trivium.db.",
      );
    return await opened(url, () => SqliteStorage.open(path, clock, statementMs));
  }
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) {
    return await opened(url, () => PostgresStorage.open(new URL(url), clock, connections, statementMs));
  }
  throw new GatewayError(
    "invalid_request",
    "`storage` must be sqlite:<path> or postgres://user:password@host/database.",
  );
}

async function opened(url: string, open: () => Promise<Storage>): Promise<Storage> {
  try {
    return await open();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new GatewayError("internal", `The storage cannot be opened: ${redactStorageUrl(url)}: ${reason}.`, {
      cause: thrown,
    });
  }
}
