import { expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import type { CheckContext } from "./check.ts";

/** One rule of the contract: fields added to a valid request that satisfy it, and fields that violate it. */
export interface RefusalCase {
  rule: string;
  good: Record<string, unknown>;
  bad: Record<string, unknown>;
  /** The path that the error must name. */
  path: string;
  /** Part of the expected value that the error must mention. */
  says: string;
}

export const AT_CONTRACT_DOOR: CheckContext = {
  door: "contract",
  model: { id: "acme/one", reasoning: true },
  publicUrl: () => "https://t.example",
};
export const AT_DROPIN_DOOR: CheckContext = { ...AT_CONTRACT_DOOR, door: "dropin" };

type Check = (body: unknown, context: CheckContext) => void;

/** The error for a request, or undefined if it is accepted. Any other exception fails the test. */
export function refusalOf(check: Check, body: unknown, context = AT_CONTRACT_DOOR): GatewayError | undefined {
  try {
    check(body, context);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return thrown;
  }
}

/** One test per row: the good request passes, the bad one is rejected at the right path with the right message. */
export function testRefusals(check: Check, sound: Record<string, unknown>, rows: readonly RefusalCase[]): void {
  test.each(rows.map((row) => [row.rule, row] as const))("%s", (_, { good, bad, path, says }) => {
    expect(refusalOf(check, { ...sound, ...good })?.message).toBeUndefined();
    const refusal = refusalOf(check, { ...sound, ...bad });
    expect(refusal?.message).toContain(says);
    expect(refusal?.path).toBe(path);
    expect(refusal?.message).toStartWith(path);
    expect(refusal?.kind).toBe("invalid_request");
  });
}
