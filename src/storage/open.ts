import { GatewayError } from "../canon/error.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { PostgresStorage } from "./postgres.ts";
import { SqliteStorage } from "./sqlite.ts";
import type { Storage } from "./storage.ts";

/** Opens `sqlite:<path>`, `sqlite::memory:` or `postgres://…`, and brings its tables up to date. */
export async function openStorage(url: string): Promise<Storage> {
  const storage = await connect(url);
  try {
    await migrate(storage, MIGRATIONS);
  } catch (thrown) {
    await storage.close();
    throw thrown;
  }
  return storage;
}

async function connect(url: string): Promise<Storage> {
  if (url.startsWith("sqlite:")) {
    const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
    if (path === "")
      throw new GatewayError("invalid_request", "`storage` names no file: write sqlite:./data/trivium.db.");
    return await opened(`the SQLite file ${path}`, () => SqliteStorage.open(path));
  }
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) {
    const address = new URL(url);
    // The address without user and password, which must not reach a log (S10).
    return await opened(`PostgreSQL at ${address.host}${address.pathname}`, () => PostgresStorage.open(address));
  }
  throw new GatewayError(
    "invalid_request",
    "`storage` must be sqlite:<path> or postgres://user:password@host/database.",
  );
}

async function opened(place: string, open: () => Promise<Storage>): Promise<Storage> {
  try {
    return await open();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new GatewayError("internal", `The storage cannot be opened: ${place}: ${reason}.`, { cause: thrown });
  }
}
