import { describe, expect, test } from "bun:test";
import { type ErrorKind, GatewayError } from "../../canon/error.ts";
import type { MediaTarget } from "../../routing/target.ts";
import { offersThatFit } from "./plan-fitting.ts";

const target = (upstreamModel: string) => ({ offer: { upstreamModel } }) as unknown as MediaTarget<object>;
const [first, second, third] = ["first", "second", "third"].map(target) as [
  MediaTarget<object>,
  MediaTarget<object>,
  MediaTarget<object>,
];
const refusing =
  (kind: ErrorKind, ...unfit: MediaTarget<object>[]) =>
  (one: MediaTarget<object>) => {
    if (unfit.includes(one)) throw new GatewayError(kind, `not by ${one.offer.upstreamModel}`);
    return `fitted for ${one.offer.upstreamModel}`;
  };

describe("contract 2.1, 8: the offers whose models can serve the request", () => {
  test("keep their order, each with the call as it takes it", () => {
    expect(offersThatFit([first, second, third], refusing("invalid_request", second))).toEqual([
      { target: first, fitted: "fitted for first" },
      { target: third, fitted: "fitted for third" },
    ]);
  });

  test("if there are none, the first one's reason is returned", () => {
    const none = () => offersThatFit([first, second], refusing("unsupported_parameter", first, second));
    expect(none).toThrow("not by first");
  });

  test("anything but a refusal is not held against the model", () => {
    expect(() => offersThatFit([first, second], refusing("internal", first))).toThrow("not by first");
    const broken = () => {
      throw new TypeError("a mistake");
    };
    expect(() => offersThatFit([first, second], broken)).toThrow("a mistake");
  });

  test("a plan without offers is a mistake of ours", () => {
    expect(() => offersThatFit([], refusing("invalid_request"))).toThrow("a plan has at least one offer");
  });
});
