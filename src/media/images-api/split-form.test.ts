import { describe, expect, test } from "bun:test";
import { readRouting } from "../../dialects/reading/read-routing.ts";
import { splitForm } from "./split-form.ts";

const form = (...fields: [string, string][]) => fields.map(([name, value]) => ({ name, value }));
const askedBy = (...fields: [string, string][]) =>
  readRouting(splitForm(form(...fields)).routing, new Headers())?.asked;

describe("choices 6: form fields that address the gateway", () => {
  test("as JSON under its name, and the rest stays", () => {
    const split = splitForm(form(["prompt", "an owl"], ["provider", '{"type":"round_robin"}'], ["providers", "x"]));
    expect(split.routing["provider"]).toEqual({ type: "round_robin" });
    expect(split.rest.map(({ name }) => name)).toEqual(["prompt", "providers"]);
  });

  test("member by member, as clients write objects into forms", () => {
    const asked = askedBy(
      ["provider[routing][providers][]", "one"],
      ["provider[routing][providers][]", "two"],
      ["provider[fallback]", "false"],
      ["trivium[deadline_ms]", "5000"],
      ["trivium[survive]", "true"],
    );
    expect(asked).toMatchObject({
      preference: { providers: ["one", "two"], fallback: "none" },
      deadlineMs: 5000,
      survive: true,
    });
  });

  test("other fields are rejected with their path", () => {
    expect(() => askedBy(["provider", "fast"])).toThrow("provider must be an object");
    expect(() => askedBy(["provider[type]", "fast"])).toThrow("provider.type must be one of");
    expect(() => askedBy(["provider[order]", "a"], ["provider[order][]", "b"])).toThrow(
      "provider[order][] cannot be a list",
    );
    expect(() => askedBy(["provider", "x"], ["provider[type]", "priority"])).toThrow(
      "provider[type] cannot be a member",
    );
  });

  test("S15: names of objects' own are names like others", () => {
    expect(askedBy(["provider[__proto__][type]", "priority"])?.preference.type).toBeUndefined();
    expect(({} as Record<string, unknown>)["type"]).toBeUndefined();
  });
});
