import { beforeEach, describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Watchdog } from "./attempt/watchdog.ts";
import { ClientPresence } from "./call.ts";

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
});

function arrived() {
  const client = new AbortController();
  const done: string[] = [];
  const connection = {
    address: "",
    trusted: false,
    hold: () => void done.push("hold"),
    rest: () => void done.push("rest"),
    hangUp: () => void done.push("hang up"),
  };
  const request = new Request("http://gateway.test/", { signal: client.signal });
  const presence = new ClientPresence(request, connection, new Watchdog(clock));
  const notified: string[] = [];
  const listener = (name: string) => ({ clientDisconnected: () => void notified.push(name) });
  return { presence, connection, done, notified, listener, abort: () => client.abort() };
}

describe("S16: a client's connection", () => {
  test("may be idle for longer once a key was shown on it", () => {
    expect(arrived().connection.trusted).toBe(true);
  });

  test("may be idle while a call takes its time, and no longer", async () => {
    const { presence, done } = arrived();
    await clock.pass(500);
    expect(done).toEqual(["hold"]);
    presence.release();
    expect(done).toEqual(["hold", "rest"]);
  });

  test("is not touched by a short call", async () => {
    const { presence, done } = arrived();
    presence.release();
    await clock.pass(500);
    expect(done).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  test("is not held again by a wait for a client that still reads the end of its answer", async () => {
    const { presence, done, abort } = arrived();
    presence.release();
    const disconnection = presence.disconnection;
    await clock.pass(500);
    expect(done).toEqual([]);
    abort();
    await disconnection;
  });

  test("is ended where its client reads nothing, and then counts as disconnected", () => {
    const { presence, done, notified, listener } = arrived();
    presence.addListener(listener("a"));
    presence.hangUp();
    expect([presence.disconnected, done, notified]).toEqual([true, ["hang up"], ["a"]]);
  });
});

describe("H13: a client that disconnects", () => {
  test("at once shows in `disconnected`, and a listener that is added later is called at once", () => {
    const { presence, notified, listener, abort } = arrived();
    expect(presence.disconnected).toBe(false);
    abort();
    expect(presence.disconnected).toBe(true);
    presence.addListener(listener("a"));
    expect(notified).toEqual(["a"]);
  });

  test("before the first tick is reported to listeners at that tick", async () => {
    const { presence, notified, listener, abort } = arrived();
    presence.addListener(listener("a"));
    abort();
    await clock.pass(100);
    expect(notified).toEqual(["a"]);
  });

  test("later is reported once to every listener that was not removed", async () => {
    const { presence, notified, listener, abort } = arrived();
    const [a, b, c] = [listener("a"), listener("b"), listener("c")];
    for (const one of [a, b, c]) presence.addListener(one);
    await clock.pass(500);
    presence.removeListener(a);
    presence.removeListener(a);
    presence.removeListener(listener("d"));
    expect([presence.disconnected, notified]).toEqual([false, []]);
    abort();
    presence.markDisconnected();
    expect([presence.disconnected, notified]).toEqual([true, ["b", "c"]]);
  });

  test("can be awaited, before it happens and after", async () => {
    const { presence, abort } = arrived();
    const waits = presence.disconnection;
    await clock.pass(500);
    expect(await Promise.race([waits.then(() => "disconnected"), Promise.resolve("connected")])).toBe("connected");
    abort();
    await waits;
    await presence.disconnection;
    const early = arrived();
    early.abort();
    await early.presence.disconnection;
    expect(early.presence.disconnected).toBe(true);
  });

  test("is noticed at once by a waiter", async () => {
    const { presence, done, abort } = arrived();
    const waits = presence.disconnection;
    expect(done).toEqual(["hold"]);
    abort();
    await waits;
    expect(clock.passedMs).toBe(0);
  });
});
