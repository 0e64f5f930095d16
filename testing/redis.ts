import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient } from "bun";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { findService } from "./is-present.ts";

export interface TemporaryRedis {
  url: string;
  /** The same server with empty memory, as after a restart. */
  flush(): Promise<void>;
  /** It accepts connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** It is gone; `start` brings it back, empty. */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A Redis or Valkey server for one test run. Undefined if no server program is installed. */
export async function startRedis(attempts = 5): Promise<TemporaryRedis | undefined> {
  const program = findService("redis-server", "valkey-server");
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "trivium-redis-"));
  const port = freePort();
  const url = `redis://127.0.0.1:${port}`;
  const command = [
    program,
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--databases",
    "64",
  ];
  const spawn = () => Bun.spawn(command, { stdout: "ignore", stderr: "ignore" });
  let server = spawn();
  const hasEnded = () => server.exitCode !== null;
  const answers = () =>
    eventually("the test's Redis server", async () => {
      if (hasEnded()) throw new Error("the test's Redis server has ended");
      const client = new RedisClient(url, { connectionTimeout: 500, autoReconnect: false, enableOfflineQueue: false });
      try {
        await client.connect();
        return true;
      } catch {
        return false;
      } finally {
        client.close();
      }
    });
  try {
    await answers();
  } catch (thrown) {
    rmSync(folder, { recursive: true, force: true });
    // Something else has taken the port.
    if (hasEnded() && attempts > 1) return startRedis(attempts - 1);
    throw thrown;
  }
  const halt = async () => {
    server.kill("SIGCONT");
    server.kill("SIGKILL");
    await server.exited;
  };
  return {
    url,
    flush: async () => {
      const client = new RedisClient(url, { autoReconnect: false });
      await client.send("FLUSHALL", []);
      client.close();
    },
    freeze: () => server.kill("SIGSTOP"),
    thaw: () => server.kill("SIGCONT"),
    halt,
    start: async () => {
      server = spawn();
      await answers();
    },
    stop: async () => {
      await halt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
