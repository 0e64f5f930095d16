import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { eventually } from "../../testing/eventually.ts";
import { isOptional } from "../../testing/is-present.ts";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { beat, insertInstance, type RegisteredInstance, selectInstances } from "../storage/tables/instances.ts";
import { checkOthers } from "./check-others.ts";
import { isGone, processName } from "./process-name.ts";

const EVERY_MS = 200;
const isNamed = isOptional(processName() !== "", "names of processes: this system does not provide them");
const ownPlace = `${hostname()}, process ${process.pid}`;
/** The name of this process with another process id, random part or namespace. */
const named = (change: { pid?: number; run?: string; ids?: string }): string => {
  const [, ids, pid, run] = /^(.+) (\d+) (\S+)$/.exec(processName()) ?? [];
  return `${change.ids ?? ids} ${change.pid ?? pid} ${change.run ?? run}`;
};

/** Starts a gateway next to another one, which may be running. */
interface Other {
  process: string;
  place?: string;
  shares?: string;
  startedAtMs?: number;
  runs?: boolean;
  files?: string;
  ownFiles?: string;
  /** Called at each of its beats. */
  onBeat?: (count: number) => void;
}

async function startBeside(other: Other) {
  const storage = await openMemoryStorage(system.clock);
  const { runs = false, shares = "redis", startedAtMs = 1, place = ownPlace, onBeat } = other;
  let beats = 0;
  const row = {
    id: "instance_1",
    place,
    process: other.process,
    startedAtMs,
    shares,
    ...withoutAbsent({ files: other.files }),
  };
  await beat(storage, row);
  const self: RegisteredInstance = {
    ...row,
    id: "instance_2",
    process: processName(),
    ...withoutAbsent({ files: other.ownFiles ?? other.files }),
  };
  await insertInstance(storage, self);
  const cancel = runs
    ? system.clock.every(EVERY_MS / 4, () => {
        onBeat?.(++beats);
        void beat(storage, row);
      })
    : () => {};
  try {
    const joined = await checkOthers({ storage, self, clock: system.clock, everyMs: EVERY_MS });
    return { joined, ids: (await selectInstances(storage)).map(({ id }) => id) };
  } finally {
    cancel();
    await storage.close();
  }
}

const LIVES = { joined: { isFirst: false, dead: [] }, ids: ["instance_1", "instance_2"] };
const IS_DEAD = { joined: { isFirst: true, dead: ["instance_1"] }, ids: ["instance_2"] };

describe.skipIf(!isNamed)("H23, decision 0046: an instance is dead only if that is certain", () => {
  test("one in another container with the same host name and process id is alive", async () => {
    expect(await startBeside({ process: named({ ids: "another container", run: "another" }) })).toEqual(LIVES);
  });

  test("one in another container whose process id is free here is alive", async () => {
    const { pid, exited } = Bun.spawn(["true"]);
    await exited;
    expect(await startBeside({ process: named({ ids: "another container", pid }) })).toEqual(LIVES);
  });

  test("H30: one in this process is alive, whatever its clock showed when it started", async () => {
    for (const startedAtMs of [1, Date.now() + 3_600_000]) {
      expect(await startBeside({ process: processName(), startedAtMs })).toEqual(LIVES);
    }
  });

  test("one of an earlier version, which has no such name, may still be running", async () => {
    expect(await startBeside({ process: "" })).toEqual(LIVES);
  });

  test("one whose process is running is alive", async () => {
    expect(await startBeside({ process: named({ pid: process.ppid }) })).toEqual(LIVES);
  });

  test("one whose process has ended is dead", async () => {
    const { pid, exited } = Bun.spawn(["true"]);
    await exited;
    expect(await startBeside({ process: named({ pid }) })).toEqual(IS_DEAD);
  });

  test("H30: an earlier process with the id of this one has ended, whatever the clock showed at its start", async () => {
    for (const startedAtMs of [1, Date.now() + 3_600_000]) {
      expect(await startBeside({ process: named({ run: "earlier" }), startedAtMs })).toEqual(IS_DEAD);
    }
  });
});

test("choices 9: a running gateway that shares no limits prevents another from starting, even in a container with the same host name", async () => {
  const other = { process: named({ ids: "another container", run: "another" }), shares: "" };
  await expect(startBeside({ ...other, runs: true })).rejects.toThrow(`already running on this database: ${ownPlace},`);
  expect(await startBeside(other)).toEqual(IS_DEAD);
});

test("decision 0146: a running gateway that keeps its files elsewhere prevents another from starting, and a silent one does not", async () => {
  const other = { process: named({ ids: "another container", run: "another" }), files: "folder one" };
  await expect(startBeside({ ...other, ownFiles: "folder two", runs: true })).rejects.toThrow(
    `keeps its files elsewhere: ${ownPlace}, started 1970-01-01T00:00:00.001Z, uses folder one, and this one folder two.`,
  );
  // It shares limits, so its share is not given away before it is certain that it is dead.
  expect(await startBeside({ ...other, ownFiles: "folder two" })).toEqual(LIVES);
  expect(await startBeside({ ...other, runs: true })).toEqual(LIVES);
  // One of an earlier version does not say where its files are.
  expect(await startBeside({ process: other.process, ownFiles: "folder two", runs: true })).toEqual(LIVES);
});

describe.skipIf(!isNamed)("choices 9: workers of a gateway that is in the way", () => {
  const placeOfWorker = (main: number, pid: number) => `${hostname()}, process ${main}, worker ${pid}`;

  test("the process to stop is the one that has started them", async () => {
    const [main, pid] = [process.pid, process.ppid];
    const other = { process: named({ pid }), shares: "", place: placeOfWorker(main, pid), runs: true };
    await expect(startBeside(other)).rejects.toThrow(`already running on this database: ${ownPlace}, started`);
  });

  /** A worker whose first process is gone. */
  async function orphan() {
    const [gone, worker] = [Bun.spawn(["true"]), Bun.spawn(["sleep", "60"])];
    await gone.exited;
    const { pid } = worker;
    return {
      worker,
      other: { process: named({ pid }), shares: "", place: placeOfWorker(gone.pid, pid), runs: true },
    };
  }

  test("without their first process they end in a moment, so the next start waits for that", async () => {
    const { worker, other } = await orphan();
    // It beats to its end.
    const onBeat = (count: number) => void (count === 2 && worker.kill("SIGKILL"));
    expect(await startBeside({ ...other, onBeat })).toEqual(IS_DEAD);
  });

  test("one that does not end is the process to stop", async () => {
    const { worker, other } = await orphan();
    const place = `${hostname()}, process ${worker.pid}`;
    await expect(startBeside(other)).rejects.toThrow(`already running on this database: ${place}, started`);
    worker.kill("SIGKILL");
  });

  test("one that has ended, although nothing has noticed yet, is gone", async () => {
    // A shell that does not wait for what it has started.
    const shell = Bun.spawn(["sh", "-c", "sleep 0.2 & echo $!; exec sleep 60"], { stdout: "pipe" });
    const pid = Number(new TextDecoder().decode((await shell.stdout.getReader().read()).value));
    await eventually("a zombie", () => readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z "));
    expect(isGone(pid)).toBe(true);
    shell.kill("SIGKILL");
  });
});
