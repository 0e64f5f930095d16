import { expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import type { CheckContext } from "./check.ts";

/** One rule of the contract: fields laid over a sound request that keep to it, and fields that break it. */
export interface RefusalRow {
  rule: string;
  good: Record<string, unknown>;
  bad: Record<string, unknown>;
  /** Where the refusal must point. */
  path: string;
  /** Words of what would be right that the refusal must hold. */
  says: string;
}

export const AT_CONTRACT_DOOR: CheckContext = {
  door: "contract",
  model: { id: "acme/one", reasoning: true },
  publicUrl: () => "https://t.example",
};
export const AT_DROPIN_DOOR: CheckContext = { ...AT_CONTRACT_DOOR, door: "dropin" };

type Check = (body: unknown, context: CheckContext) => void;

/** The refusal of a request, or undefined where it is accepted. Anything else that is thrown fails the test. */
export function refusalOf(check: Check, body: unknown, context = AT_CONTRACT_DOOR): GatewayError | undefined {
  try {
    check(body, context);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return thrown;
  }
}

/** A test for each row: the good request passes, the bad one is refused at the right place with the right words. */
export function testRefusals(check: Check, sound: Record<string, unknown>, rows: readonly RefusalRow[]): void {
  test.each(rows.map((row) => [row.rule, row] as const))("%s", (_, { good, bad, path, says }) => {
    expect(refusalOf(check, { ...sound, ...good })?.message).toBeUndefined();
    const refusal = refusalOf(check, { ...sound, ...bad });
    expect(refusal?.message).toContain(says);
    expect(refusal?.path).toBe(path);
    expect(refusal?.message).toStartWith(path);
    expect(refusal?.kind).toBe("invalid_request");
  });
}
