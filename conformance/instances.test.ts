import { afterAll, afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { selectInstances } from "../src/storage/tables/instances.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { isOptional } from "../testing/is-present.ts";
import { bareEnvironment, TRIVIUM } from "./support/program.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-instances-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const running: TestGateway[] = [];
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
});

const storageUrl = (name: string) => `sqlite:${join(folder, `${name}.db`)}`;

/** A gateway on the shared storage. */
async function instance(name: string, heartbeatMs = 40): Promise<TestGateway> {
  const gateway = await startTestGateway({ config: { storage: storageUrl(name) }, timings: { heartbeatMs } });
  running.push(gateway);
  return gateway;
}

test("choices 9, H23: a second gateway on one storage that would not share limits refuses to start, and says why", async () => {
  const first = await instance("second");
  const storage = await openStorage(storageUrl("second"), system.clock);
  await eventually("a heartbeat", async () => (await selectInstances(storage))[0]?.beats);
  await expect(instance("second")).rejects.toThrow(
    /already running on this database: .*, process \d+, started .*Stop it first.*set `redis`/,
  );
  // The running one is not disturbed, and the refused one leaves nothing behind.
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  await eventually("one instance", async () => (await selectInstances(storage)).length === 1);
  await first.stop();
  running.splice(0);
  expect(await selectInstances(storage)).toEqual([]);
  await instance("second");
  await storage.close();
});

test("choices 9: if two start at once, one continues", async () => {
  // Each watches the other's heartbeat, long enough for a busy machine on which this process may stall.
  const both = await Promise.allSettled([instance("race", 200), instance("race", 200)]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("choices 9: a killed gateway leaves a row, which does not keep another from starting", async () => {
  const storage = await openStorage(storageUrl("killed"), system.clock);
  await storage.query("INSERT INTO instances (id, place, started_at_ms, beats) VALUES ('crashed', 'gone', 1, 7)");
  await instance("killed");
  const ids = (await selectInstances(storage)).map(({ id }) => id);
  expect(ids).toHaveLength(1);
  expect(ids).not.toContain("crashed");
  await storage.close();
});

/**
 * Runs a program with its own process ids and the host's name, as in a container on the host's network. It ends with
 * this command.
 */
const IN_CONTAINER = ["unshare", "-Urpf", "--mount-proc", "--kill-child"];
const hasContainers =
  process.platform === "linux" && Bun.which("unshare") !== null && Bun.spawnSync([...IN_CONTAINER, "true"]).success;

test.skipIf(!isOptional(hasContainers, "gateways in containers: this user may not make namespaces"))(
  "choices 9, H23: in two containers with one host name, where both are process 1, a second gateway refuses to start",
  async () => {
    const start = (name: string) => {
      const cwd = mkdtempSync(join(folder, name));
      const [port, adminPort] = [freePort(), freePort()];
      const server = { host: "127.0.0.1", port };
      const admin = { host: "127.0.0.1", port: adminPort };
      const sections = { server, admin, storage: storageUrl("containers"), data_dir: cwd, simulator: true };
      writeFileSync(join(cwd, "trivium.yaml"), JSON.stringify(sections));
      const child = Bun.spawn([...IN_CONTAINER, TRIVIUM, "serve"], {
        cwd,
        env: bareEnvironment(),
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
      });
      return { child, isReady: () => isReady(`http://127.0.0.1:${port}/readyz`) };
    };
    const first = start("first");
    try {
      await eventually("the first container", first.isReady);
      const second = start("second");
      await eventually("the second one", async () => second.child.exitCode !== null || (await second.isReady()));
      second.child.kill("SIGKILL");
      expect(await second.child.stderr.text()).toMatch(/already running on this database: .*, process 1, started/);
      expect(await first.isReady()).toBe(true);
    } finally {
      first.child.kill("SIGKILL");
      await first.child.exited;
    }
  },
);

const isReady = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
