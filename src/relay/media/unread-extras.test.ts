import { expect, test } from "bun:test";
import { unreadExtras } from "./unread-extras.ts";

const reason = "this model's provider does not support this field";

test("H09: fields that the provider's adapter does not read are noted, by the client's names for them", () => {
  const call = { extras: { style: "vivid", user: "u", tint: 1 }, extraPaths: new Map([["tint", "parameters.tint"]]) };
  expect(unreadExtras(call, ({ extras }) => extras["user"])).toEqual([
    { path: "style", action: "dropped", reason },
    { path: "parameters.tint", action: "dropped", reason },
  ]);
  expect(unreadExtras(call, ({ extras }) => ({ ...extras }))).toEqual([]);
});

test("without such fields no request is made for it", () => {
  const refuse = () => {
    throw new Error("a request was made");
  };
  expect(unreadExtras({ extras: {} }, refuse)).toEqual([]);
});
