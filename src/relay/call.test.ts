import { beforeEach, describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { ClientPresence } from "./call.ts";
import { Watchdog } from "./watchdog.ts";

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
});

function arrived() {
  const client = new AbortController();
  const done: string[] = [];
  const connection = {
    trusted: false,
    hold: () => void done.push("hold"),
    rest: () => void done.push("rest"),
    hangUp: () => void done.push("hang up"),
  };
  const request = new Request("http://gateway.test/", { signal: client.signal });
  const presence = new ClientPresence(request, connection, new Watchdog(clock));
  const told: string[] = [];
  const listener = (name: string) => ({ clientLeft: () => void told.push(name) });
  return { presence, connection, done, told, listener, abort: () => client.abort() };
}

describe("S16: a client's connection", () => {
  test("may rest longer once a key was shown on it", () => {
    expect(arrived().connection.trusted).toBe(true);
  });

  test("may be silent while a call takes its time, and no longer", async () => {
    const { presence, done } = arrived();
    await clock.pass(500);
    expect(done).toEqual(["hold"]);
    presence.release();
    expect(done).toEqual(["hold", "rest"]);
  });

  test("is left alone by a call that is over in a moment", async () => {
    const { presence, done } = arrived();
    presence.release();
    await clock.pass(500);
    expect(done).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  test("is not held again by those who wait for a client that still takes the last of its answer", async () => {
    const { presence, done, abort } = arrived();
    presence.release();
    const left = presence.left;
    await clock.pass(500);
    expect(done).toEqual([]);
    abort();
    await left;
  });

  test("is ended where its client reads nothing, and the client has left then", () => {
    const { presence, done, told, listener } = arrived();
    presence.tell(listener("a"));
    presence.hangUp();
    expect([presence.gone, done, told]).toEqual([true, ["hang up"], ["a"]]);
  });
});

describe("H13: a client that leaves", () => {
  test("at once is noticed by whoever looks, and whoever wants to be told is told", () => {
    const { presence, told, listener, abort } = arrived();
    expect(presence.gone).toBe(false);
    abort();
    expect(presence.gone).toBe(true);
    presence.tell(listener("a"));
    expect(told).toEqual(["a"]);
  });

  test("before the first look is told to those who wait at that look", async () => {
    const { presence, told, listener, abort } = arrived();
    presence.tell(listener("a"));
    abort();
    await clock.pass(100);
    expect(told).toEqual(["a"]);
  });

  test("later is told to everybody at once and once, but for those who do not want to know any more", async () => {
    const { presence, told, listener, abort } = arrived();
    const [a, b, c] = [listener("a"), listener("b"), listener("c")];
    for (const one of [a, b, c]) presence.tell(one);
    await clock.pass(500);
    presence.forget(a);
    presence.forget(a);
    presence.forget(listener("d"));
    expect([presence.gone, told]).toEqual([false, []]);
    abort();
    presence.leave();
    expect([presence.gone, told]).toEqual([true, ["b", "c"]]);
  });

  test("can be waited for, before it has left and after", async () => {
    const { presence, abort } = arrived();
    const waits = presence.left;
    await clock.pass(500);
    expect(await Promise.race([waits.then(() => "left"), Promise.resolve("there")])).toBe("there");
    abort();
    await waits;
    await presence.left;
    const gone = arrived();
    gone.abort();
    await gone.presence.left;
    expect(gone.presence.gone).toBe(true);
  });

  test("is heard of at once by whoever waits for it", async () => {
    const { presence, done, abort } = arrived();
    const waits = presence.left;
    expect(done).toEqual(["hold"]);
    abort();
    await waits;
    expect(clock.passedMs).toBe(0);
  });
});
