import { describe, expect, test } from "bun:test";
import { sampleRequests } from "../../../testing/sample-requests.ts";
import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { DIALECTS } from "../index.ts";

/** Members whose content the client defines, in which null is an ordinary value. */
const DATA = new Set([
  "parameters",
  "parametersJsonSchema",
  "responseJsonSchema",
  "responseSchema",
  "schema",
  "input_schema",
  "input",
  "args",
  "response",
  "metadata",
  "logit_bias",
  "labels",
  "output_config",
  "context_management",
  "allowed_tools",
]);

type Step = string | number;

/** Every member of every object, as the steps that lead there. */
function membersOf(value: unknown, steps: Step[] = []): Step[][] {
  if (Array.isArray(value)) return value.flatMap((item, index) => membersOf(item, [...steps, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const here = [...steps, key];
    return [here, ...(DATA.has(key) ? [] : membersOf(member, here))];
  });
}

function changed(body: JsonObject, steps: readonly Step[], change: (holder: Record<Step, unknown>, key: Step) => void) {
  const copy = structuredClone(body);
  let holder = copy as Record<Step, unknown>;
  for (const step of steps.slice(0, -1)) holder = holder[step] as Record<Step, unknown>;
  change(holder, steps.at(-1) ?? "");
  return copy;
}

const leaveOutNulls = (_key: string, value: unknown): unknown => (value === null ? undefined : value);

const samples = sampleRequests("every-field");

describe.each(samples.map((sample) => [`${sample.dialect} ${sample.name}`, sample] as const))(
  "decision 0026, contract 2: null for an optional field means that it is absent: %s",
  (_, { dialect: name, text }) => {
    const dialect = DIALECTS[name];
    const body = JSON.parse(text) as JsonObject;
    /** What a request means, or undefined if it is rejected. */
    const read = (asked: JsonObject) => {
      try {
        const context = { door: "dropin", model: { id: "acme/one", reasoning: true }, verb: "generate" } as const;
        const taken = dialect.requests.check({ text: JSON.stringify(asked), body: asked }, context);
        // Unknown fields keep their nulls.
        return JSON.parse(JSON.stringify(dialect.codec.decodeRequest(taken.body), leaveOutNulls)) as object;
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        return undefined;
      }
    };

    test("in every place", () => {
      let tried = 0;
      for (const steps of membersOf(body)) {
        const without = read(changed(body, steps, (holder, key) => delete holder[key]));
        if (without === undefined) continue;
        const nulled = read(
          changed(body, steps, (holder, key) => {
            holder[key] = null;
          }),
        );
        expect([steps.join("."), nulled]).toEqual([steps.join("."), without]);
        tried++;
      }
      expect(tried).toBeGreaterThan(0);
    });
  },
);
