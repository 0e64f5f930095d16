import { describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Config } from "../../config/config.ts";
import { configuredProviders } from "../configured-providers.ts";
import { readConfig } from "../read-config.ts";
import { type Machine, workerCount } from "./worker-count.ts";

const PROVIDER = "providers: { openai: { kind: openai, api_key: key } }\n";
const GIGABYTE = 1024 ** 3;
const MACHINE: Machine = { platform: "linux", processors: 4, memoryBytes: 24 * GIGABYTE };

function countOf(
  text: string,
  machine: Partial<Machine> = {},
  { environment = {}, workers }: { environment?: Record<string, string>; workers?: Config["server"]["workers"] } = {},
) {
  const config = readConfig({ cwd: tmpdir(), environment, text, overrides: withoutAbsent({ workers }) });
  return workerCount(config, configuredProviders(config, environment), { ...MACHINE, ...machine });
}

describe("decisions 0135, 0141: how many processes serve calls", () => {
  test("one for each processor when a provider is configured, with SQLite and with PostgreSQL", () => {
    expect(countOf(PROVIDER, { processors: 3 })).toEqual({ count: 3, reason: "one for each processor" });
    expect(countOf(PROVIDER)).toEqual({ count: 4, reason: "one for each processor" });
    const storage = "storage: postgres://trivium:secret@127.0.0.1/trivium\n";
    expect(countOf(PROVIDER + storage, { processors: 8 })).toEqual({ count: 8, reason: "one for each processor" });
  });

  test("a provider of the environment counts", () => {
    expect(countOf("{}", {}, { environment: { OPENAI_API_KEY: "key" } }).count).toBe(4);
  });

  test("one without a provider, with one or two processors, in memory, or on a system that does not distribute connections", () => {
    const one = (reason: string) => ({ count: 1, reason });
    expect(countOf("{}")).toEqual(one("no provider is configured besides the simulator"));
    expect(countOf(PROVIDER, { processors: 1 })).toEqual(one("one processor"));
    expect(countOf(PROVIDER, { processors: 2 })).toEqual(one("one process is faster up to two processors"));
    expect(countOf(`${PROVIDER}storage: "sqlite::memory:"\n`)).toEqual(one("the database is in memory"));
    expect(countOf(PROVIDER, { platform: "darwin" })).toEqual(one("only Linux distributes connections"));
  });

  test("one where max_concurrent of a provider, or of all, would apply to each process", () => {
    const limited = "providers: { openai: { kind: openai, api_key: key, max_concurrent: 8 } }\n";
    const reason = "max_concurrent of the provider openai applies to each process";
    expect(countOf(limited)).toEqual({ count: 1, reason });
    expect(countOf(`${PROVIDER}routing: { max_concurrent: 8 }\n`)).toEqual({
      count: 1,
      reason: "routing.max_concurrent applies to each process",
    });
  });

  test("no more than fit into the memory with the bodies that each may hold", () => {
    const machine = { processors: 8, memoryBytes: 2 * GIGABYTE };
    expect(countOf(PROVIDER, machine)).toEqual({
      count: 3,
      reason: "8 processors, but 2048 MB of memory, and each may need 640 MB (server.memory_mb)",
    });
    const small = "server: { memory_mb: 128 }\n";
    expect(countOf(PROVIDER + small, { processors: 4, memoryBytes: 2 * GIGABYTE }).count).toBe(4);
    expect(countOf(PROVIDER, { memoryBytes: GIGABYTE / 2 }).count).toBe(1);
  });

  test("no more than 4 on SQLite and 16 on PostgreSQL", () => {
    expect(countOf(PROVIDER, { processors: 64, memoryBytes: 256 * GIGABYTE })).toEqual({
      count: 4,
      reason: "64 processors; set server.workers for more",
    });
    const storage = "storage: postgres://trivium:secret@127.0.0.1/trivium\n";
    expect(countOf(PROVIDER + storage, { processors: 64, memoryBytes: 256 * GIGABYTE }).count).toBe(16);
  });

  test("a number is taken as it is, and the command line overrides the file", () => {
    const asConfigured = (count: number) => ({ count, reason: "as configured" });
    expect(countOf("server: { workers: 5 }\n")).toEqual(asConfigured(5));
    expect(countOf("server: { workers: 5 }\n", {}, { workers: 1 })).toEqual(asConfigured(1));
    expect(countOf(`${PROVIDER}server: { workers: 1 }\n`, {}, { workers: "auto" }).count).toBe(4);
    expect(countOf(`${PROVIDER}server: { workers: "\${COUNT}" }\n`, {}, { environment: { COUNT: "3" } }).count).toBe(3);
    expect(() => countOf("server: { workers: 0 }\n")).toThrow(
      "server.workers must be auto, or a whole number from 1 to 256",
    );
  });
});
