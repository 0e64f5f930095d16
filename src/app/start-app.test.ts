import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../testing/free-port.ts";
import { system } from "../base/system.ts";
import { createLog } from "../observe/log.ts";
import { openStorage } from "../storage/open.ts";
import { selectInstances } from "../storage/tables/instances.ts";
import { startApp } from "./start-app.ts";

const HOST = "127.0.0.1";

const take = (port: number) => Bun.listen({ hostname: HOST, port, socket: { data: () => undefined } });

test("if a part fails to start, the parts before it stop, and a second try in the same process succeeds", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-start-app-"));
  const [port, taken] = [freePort(), take(0)];
  const sections = { server: { host: HOST, port }, admin: { host: HOST, port: taken.port }, simulator: true };
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(sections));
  const errors: unknown[] = [];
  const log = {
    ...createLog({ clock: system.clock, level: "silent" }),
    error: (...said: unknown[]) => errors.push(said),
  };
  const start = () => startApp({ cwd: folder, environment: {}, log });
  try {
    await expect(start()).rejects.toThrow(`Port ${taken.port} on ${HOST} is in use`);
    const storage = await openStorage(`sqlite:${join(folder, "data/trivium.db")}`, system.clock);
    expect(await selectInstances(storage)).toEqual([]);
    await storage.close();
    taken.stop(true);
    const app = await start();
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    expect(await app.stop()).toEqual({ lostReceipts: 0 });
    await expect(fetch(`${app.url}/healthz`)).rejects.toThrow();
    await expect(fetch(`${app.adminUrl}/healthz`)).rejects.toThrow();
    expect(errors).toEqual([]);
  } finally {
    taken.stop(true);
    rmSync(folder, { recursive: true, force: true });
  }
});
