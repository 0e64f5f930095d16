import { expect, test } from "bun:test";
import { RoutingDefaults } from "../../routing/call-routing.ts";
import type { Gateway } from "../gateway.ts";
import { type Requester, resolveRouting } from "./resolve-routing.ts";

test("decision 0127: a call that is a part of another requires what that one requires", () => {
  const gateway = { snapshot: { routing: new RoutingDefaults() } } as unknown as Gateway;
  const region = { trait: "region", value: "eu" } as const;
  const zero = { trait: "retention", value: "zero" } as const;
  const routing = { preference: {}, require: [region] };
  const requester = { incoming: { require: [zero] }, principal: { routing }, model: undefined } as unknown as Requester;
  expect(resolveRouting(undefined, requester, gateway).require).toEqual([region, zero]);
});
