import { expect } from "bun:test";
import { createKey } from "../../src/access/keys.ts";
import { Harness } from "../../testing/harness.ts";
import type { LiveClient } from "../../testing/live-client.ts";

export const LIVE_FAULTS = [
  "client gone",
  "upstream cut",
  "upstream closes",
  "upstream silent",
  "malformed",
  "malformed upstream",
  "revoked",
  "no budget",
  "drain",
] as const;

export type LiveFault = (typeof LIVE_FAULTS)[number];

const ACTOR = { who: "test" };

/** A gateway, and a key with one dollar, whose live connection has a fault after some message of a turn. */
export class LiveFaultHarness {
  readonly harness: Harness;
  readonly key: string;
  readonly #keyId: string;

  private constructor(harness: Harness, { id, key }: { id: string; key: string }) {
    this.harness = harness;
    this.key = key;
    this.#keyId = id;
  }

  static async start(options: Parameters<typeof Harness.start>[0]): Promise<LiveFaultHarness> {
    const harness = await Harness.start(options);
    const { clock, gateway, machine, storage } = harness;
    const settings = { name: "k", project: "default", limits: { budgetUsdTotal: 1 } };
    const made = await createKey(storage, settings, { clock, random: machine.random }, ACTOR);
    await gateway.keys.refresh();
    return new LiveFaultHarness(harness, made);
  }

  /** Faults of an upstream are those of the last host that was connected over a socket. */
  async play(fault: LiveFault, client: LiveClient): Promise<void> {
    const { clock, context, gateway, sockets } = this.harness;
    switch (fault) {
      case "client gone":
        return client.leave();
      case "upstream cut":
        return sockets.host.hangUp();
      case "upstream closes":
        return sockets.host.hangUp(1001, "Bye.");
      case "upstream silent":
        return clock.pass(8_000);
      case "malformed":
        return client.say('{"type":');
      case "malformed upstream":
        return sockets.host.say('{"type":');
      case "revoked":
        gateway.keys.revokeHere(this.#keyId, ACTOR);
        return;
      case "no budget":
        gateway.admissions.hold({ keyId: this.#keyId, project: "default" }, 1_000_000_000);
        return;
      case "drain":
        return context.live.drain(30_000);
    }
  }

  /** Lets the client leave, and expects that nothing is left. Returns how each turn was billed; `whole` is the cost of a whole one. */
  async bills(client: LiveClient, whole: number): Promise<string[]> {
    const { clock, gateway, sockets, storage } = this.harness;
    client.leave();
    await clock.pass(10_000);
    expect(this.harness.leftovers()).toEqual({
      runningCalls: 0,
      orphanedTexts: 0,
      orphanedImages: 0,
      heldBytes: 0,
      openUpstreams: 0,
    });
    expect(sockets.open).toBe(0);
    expect(gateway.admissions.account("key", this.#keyId).sessions).toBe(0);
    const receipts = await storage.query("SELECT outcome, cost_nano_usd FROM receipts ORDER BY id");
    const wordFor = (cost: number) => (cost === whole ? "whole" : cost === 0 ? "nothing" : "part");
    return receipts.map(({ outcome, cost_nano_usd }) => `${outcome}: ${wordFor(Number(cost_nano_usd))}`);
  }
}
