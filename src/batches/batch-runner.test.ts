import { describe, expect, test } from "bun:test";
import { BatchWorld, COST, LEASE_MS } from "./batch-world.sample.ts";

describe("H43: the lines of a batch are sent once, and billed as often as they are sent", () => {
  for (const aheadMs of [15_000, -15_000, 3_600_000]) {
    test(`at two processes, one of whose machines has a clock that is wrong by ${aheadMs / 1000} s`, async () => {
      const world = await BatchWorld.open();
      await world.batch("b", 12);
      await world.start();
      await world.start({ aheadMs });
      await world.clock.pass(120_000);
      expect(world.sentTwice).toEqual([]);
      expect(await world.stateOf("b")).toMatchObject({ succeeded: 12, billedNanoUsd: 12 * COST });
    });

    test(`at one whose clock is set by ${aheadMs / 1000} s while they run`, async () => {
      const world = await BatchWorld.open();
      await world.batch("b", 8);
      await world.start();
      // After a renewal, and before the next look.
      await world.clock.pass(3_500);
      world.clock.stepWall(aheadMs);
      await world.clock.pass(60_000);
      expect(world.sentTwice).toEqual([]);
      expect(await world.stateOf("b")).toMatchObject({ succeeded: 8, billedNanoUsd: 8 * COST });
    });
  }

  test("when the database was away for longer than a lease, each process finds its own lines again", async () => {
    const world = await BatchWorld.open();
    await world.batch("b", 8);
    await world.start();
    await world.start();
    await world.clock.pass(1_000);
    expect(world.sent.size).toBe(4);
    world.isStoreAway = true;
    await world.clock.pass(3 * LEASE_MS);
    world.isStoreAway = false;
    await world.clock.pass(60_000);
    expect(world.sentTwice).toEqual([]);
    expect(await world.stateOf("b")).toMatchObject({ succeeded: 8, billedNanoUsd: 8 * COST });
  });

  test("a process that starts then leaves the others the time to find theirs", async () => {
    const world = await BatchWorld.open();
    await world.batch("b", 4);
    const busy = await world.start();
    await world.clock.pass(1_000);
    world.isStoreAway = true;
    await world.clock.pass(2 * LEASE_MS);
    world.isStoreAway = false;
    await world.start();
    await world.clock.pass(30_000);
    expect(world.sentTwice).toEqual([]);
    expect(await world.stateOf("b")).toMatchObject({ succeeded: 4, billedNanoUsd: 4 * COST });
    expect(busy.held.get("b") ?? 0).toBe(0);
  });

  test("a line that ran twice has one result and two receipts, and the batch costs both", async () => {
    const world = await BatchWorld.open();
    await world.batch("b", 1);
    const stray = await world.start();
    await world.clock.pass(1_000);
    // The others take it for dead, and it is not.
    await stray.forget();
    await world.start();
    await world.clock.pass(60_000);
    expect(world.sentTwice).toEqual(["b 1"]);
    const twice = 2 * COST;
    expect(await world.stateOf("b")).toEqual({ succeeded: 1, open: 0, shownNanoUsd: twice, billedNanoUsd: twice });
  });

  test("a process whose clock was ahead and that is killed leaves nothing that waits for its time", async () => {
    const world = await BatchWorld.open();
    await world.batch("b", 12);
    const ahead = await world.start({ aheadMs: 600_000 });
    await world.clock.pass(1_000);
    await ahead.kill();
    await world.batch("c", 4);
    await world.start();
    await world.clock.pass(60_000);
    expect(await world.stateOf("b")).toMatchObject({ succeeded: 12 });
    expect(await world.stateOf("c")).toMatchObject({ succeeded: 4 });
  });

  test("a process that stops gives its batches to another, which holds what is left of them", async () => {
    const world = await BatchWorld.open();
    await world.batch("b", 20);
    const first = await world.start();
    await world.clock.pass(1_000);
    const second = await world.start();
    await world.clock.pass(1_000);
    expect([first.held.get("b"), second.held.get("b") ?? 0]).toEqual([16 * COST, 0]);
    await first.stop();
    await world.clock.pass(1_000);
    expect(second.held.get("b")).toBe(12 * COST);
    await world.clock.pass(60_000);
    expect(world.sentTwice).toEqual([]);
    expect(await world.stateOf("b")).toMatchObject({ succeeded: 20, billedNanoUsd: 20 * COST });
  });

  test("a process that is about to stop takes no more lines, and lets those that run end", async () => {
    const world = await BatchWorld.open();
    await world.batch("b", 12);
    const { runner } = await world.start();
    await world.clock.pass(1_000);
    await world.clock.until(runner.drain(30));
    expect(world.clock.passedMs).toBeWithin(7_500, 8_500);
    await world.clock.pass(1_000);
    expect(world.sent.size).toBe(4);
    expect(await world.stateOf("b")).toMatchObject({ succeeded: 4, billedNanoUsd: 4 * COST });
    const hurry = new AbortController();
    hurry.abort();
    await world.clock.until(runner.drain(30, hurry.signal));
  });

  test("a batch of a restored database sends nothing until it is released, and newer ones run", async () => {
    const world = await BatchWorld.open();
    await world.batch("old", 4);
    await world.clock.pass(1_000);
    await world.hold();
    await world.batch("new", 2);
    const { held } = await world.start();
    await world.clock.pass(30_000);
    expect([...world.sent.keys()].sort()).toEqual(["new 1", "new 2"]);
    expect(held.get("old")).toBe(4 * COST);
    await world.release();
    await world.clock.pass(30_000);
    expect(await world.stateOf("old")).toMatchObject({ succeeded: 4 });
  });

  test("a process that starts holds the rest of every batch before it is ready, without a lease to wait for", async () => {
    const world = await BatchWorld.open();
    await world.batch("b", 10);
    const killed = await world.start();
    await world.clock.pass(1_000);
    await killed.kill();
    const next = await world.make();
    await next.runner.prepare();
    // Four were being run, and nothing holds them any more.
    expect(next.held.get("b")).toBe(10 * COST);
  });
});
