import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createLog } from "../observe/log.ts";
import { Parts } from "./parts.ts";

interface Logged {
  part: string;
  err: Error;
}

function makeParts() {
  const clock = new VirtualClock();
  const logged: string[] = [];
  const error = (fields: unknown) => {
    const { part, err } = fields as Logged;
    logged.push(`${part}: ${err.message}`);
  };
  const parts = new Parts({ clock, log: { ...createLog({ clock, level: "silent" }), error } });
  const stopped: string[] = [];
  const add = (name: string, ms = 0, options = {}) =>
    parts.add(
      name,
      async () => {
        if (ms > 0) await clock.sleep(ms);
        stopped.push(`${name} at ${clock.passedMs}`);
      },
      options,
    );
  return { clock, parts, logged, stopped, add };
}

const never = () => new Promise<never>(() => {});

describe("the parts of a program", () => {
  test("stop in sequence, the last one first", async () => {
    const { clock, parts, stopped, logged, add } = makeParts();
    for (const name of ["storage", "port", "calls"]) add(name, 10);
    parts.add("part without a stop", undefined);
    await clock.until(parts.stop());
    expect(stopped).toEqual(["calls at 10", "port at 20", "storage at 30"]);
    expect(logged).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  test("stop together if they are declared so", async () => {
    const { clock, parts, stopped, add } = makeParts();
    add("storage", 10);
    add("instance", 10);
    add("operations", 20, { together: true });
    add("calls", 10);
    await clock.until(parts.stop());
    expect(stopped).toEqual(["calls at 10", "instance at 20", "operations at 30", "storage at 40"]);
  });

  test("H29: one that throws, rejects or hangs is logged by name, and the others still stop", async () => {
    const { clock, parts, stopped, logged, add } = makeParts();
    add("storage");
    parts.add("hangs", never);
    add("port");
    parts.add("rejects", () => Promise.reject(new Error("no connection")));
    parts.add("throws", () => {
      throw new Error("not started");
    });
    add("calls");
    await clock.until(parts.stop());
    expect(stopped).toEqual(["calls at 0", "port at 0", "storage at 3000"]);
    expect(logged).toEqual([
      "throws: not started",
      "rejects: no connection",
      "hangs: a part did not stop within 3000 ms",
    ]);
  });

  test("H29: one that hangs does not delay those that stop together with it, and is abandoned after its own limit", async () => {
    const { clock, parts, stopped, logged, add } = makeParts();
    add("storage");
    add("instance", 10);
    parts.add("operations", never, { together: true });
    parts.add("drain", never, { withinMs: 60_000 });
    await clock.until(parts.stop());
    expect(stopped).toEqual(["instance at 60010", "storage at 63000"]);
    expect(logged).toEqual([
      "drain: a part did not stop within 60000 ms",
      "operations: a part did not stop within 3000 ms",
    ]);
  });

  test("receive the signal to hurry; a second stop waits for the first", async () => {
    const { clock, parts, stopped, add } = makeParts();
    const hurry = AbortSignal.abort();
    let given: AbortSignal | undefined;
    add("storage", 10);
    parts.add("calls", (signal) => {
      given = signal;
    });
    await clock.until(Promise.all([parts.stop(hurry), parts.stop()]));
    expect(given).toBe(hurry);
    expect(stopped).toEqual(["storage at 10"]);
  });
});
