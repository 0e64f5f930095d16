import { describe, expect, test } from "bun:test";
import { sampleCall, scriptedGateway } from "../../../testing/scripted-gateway.ts";
import { NO_PREFERENCE, type Preference } from "../../canon/preference.ts";
import { DEFAULT_ROUTING } from "../../routing/call-routing.ts";
import { planMedia, planText } from "./plan-call.ts";

describe("the plan of images and videos", () => {
  const { gateway, targets } = scriptedGateway();
  const { model } = gateway.snapshot.catalogue.resolve("acme/model");
  const planned = (count: number, preference: Preference) =>
    planMedia({ model, routing: { ...DEFAULT_ROUTING, preference } }, gateway, targets.slice(0, count));

  test("has nothing to explain where there was nothing to choose", () => {
    expect(planned(1, NO_PREFERENCE)).toEqual({ targets: targets.slice(0, 1), explained: undefined });
    expect(planned(1, { type: "round_robin" }).explained?.map(({ why }) => why)).toEqual(["the only offer"]);
    expect(planned(2, NO_PREFERENCE).explained).toHaveLength(2);
  });

  test("is restricted and ordered as any other", () => {
    expect(planned(2, { providers: ["two"] }).targets.map(({ provider }) => provider.name)).toEqual(["two"]);
  });
});

describe("the plan of a text", () => {
  const conversation = (preference: Preference, verb: "generate" | "count_tokens" = "generate") => {
    const { gateway } = scriptedGateway();
    const { call } = sampleCall(gateway, {}, [], { preference });
    const counting = { ...call, incoming: { ...call.incoming, verb } };
    planText(counting, gateway, gateway.snapshot.catalogue.resolve("acme/model"));
    return counting.conversation;
  };

  test("knows its conversation, unless that makes no difference", () => {
    expect(conversation({})).toBeDefined();
    expect(conversation({ sticky: true })).toBeDefined();
    expect(conversation({ sticky: false })).toBeUndefined();
    expect(conversation({}, "count_tokens")).toBeUndefined();
  });

  test("chooses at random among equal weights", () => {
    const first = (...bytes: number[]) => {
      const { gateway } = scriptedGateway();
      const { call } = sampleCall(gateway);
      const drawing = { ...gateway, random: { ...gateway.random, bytes: () => Uint8Array.from(bytes) } };
      const resolved = gateway.snapshot.catalogue.resolve("acme/model");
      for (const offer of resolved.model.offers) offer.weight = 1;
      return planText(call, drawing, resolved).targets[0]?.offer.provider;
    };
    expect([first(0, 0, 0, 0), first(127, 255, 255, 255), first(128, 0, 0, 0), first(255, 255, 255, 255)]).toEqual([
      "one",
      "one",
      "two",
      "two",
    ]);
  });
});
