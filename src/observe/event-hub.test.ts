import { expect, test } from "bun:test";
import { EventHub, type GatewayEvent } from "./event-hub.ts";

const event = (provider: string): GatewayEvent => ({
  type: "health",
  atMs: 1,
  provider,
  credential: undefined,
  upstreamModel: undefined,
  state: "closed",
  openMs: undefined,
});

test("events of this process go to its subscribers and to the relay, those of others to its subscribers", () => {
  const hub = new EventHub();
  const [here, relayed]: [GatewayEvent[], GatewayEvent[]] = [[], []];
  expect(hub.watched).toBe(false);
  hub.relayTo((told) => relayed.push(told));
  expect(hub.watched).toBe(true);
  hub.watch((told) => here.push(told));
  hub.tell(event("own"));
  hub.hear(event("other"));
  expect(here).toEqual([event("own"), event("other")]);
  expect(relayed).toEqual([event("own")]);
  hub.relayTo(undefined);
  expect(hub.watched).toBe(true);
});

test("reports the first subscriber and the end of the last one, once each", () => {
  const hub = new EventHub();
  const reports: boolean[] = [];
  hub.onSubscribers = (areThere) => reports.push(areThere);
  const [first, second] = [hub.watch(() => {}), hub.watch(() => {})];
  first();
  first();
  expect([reports, hub.watched]).toEqual([[true], true]);
  second();
  expect([reports, hub.watched]).toEqual([[true, false], false]);
});
