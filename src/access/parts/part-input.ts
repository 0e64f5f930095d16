import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { JsonInput } from "../json-input.ts";
import type { PartLimitsChange } from "./part-limits.ts";

/** The fields of a key or a project that limit parts of its calls. */
export const PART_FIELDS = ["end_users", "limits_by_model", "limits_by_tag"] as const;

type Changes = Readonly<Record<string, number | null>>;

/** Reads these fields; undefined if none is given. */
export function readPartChange(input: JsonInput): PartLimitsChange | undefined {
  const change: PartLimitsChange = withoutAbsent({
    end_users: input.isNull("end_users") ? null : readEndUsers(input.object("end_users")),
    limits_by_model: input.isNull("limits_by_model") ? null : readPatterns(input, "limits_by_model"),
    limits_by_tag: input.isNull("limits_by_tag") ? null : readPatterns(input, "limits_by_tag"),
  });
  return Object.keys(change).length === 0 ? undefined : change;
}

function readEndUsers(given: Readonly<Record<string, unknown>> | undefined): PartLimitsChange["end_users"] {
  if (given === undefined) return undefined;
  const input = new JsonInput(given, "end_users", ["limits", "required"]);
  return withoutAbsent({ limits: input.numbers("limits"), required: input.flag("required") });
}

function readPatterns(input: JsonInput, name: "limits_by_model" | "limits_by_tag") {
  const given = input.object(name);
  if (given === undefined) return undefined;
  const patterns: Record<string, Changes | null> = {};
  for (const [pattern, limits] of Object.entries(given)) {
    if (limits === null) {
      patterns[pattern] = null;
      continue;
    }
    const path = `${name}["${pattern.slice(0, 80)}"]`;
    if (typeof limits !== "object" || Array.isArray(limits)) {
      throw new GatewayError("invalid_request", `\`${path}\` must be an object of limits.`, { path });
    }
    for (const [limit, value] of Object.entries(limits)) {
      if (typeof value === "number" || value === null) continue;
      const at = `${path}.${limit.slice(0, 80)}`;
      throw new GatewayError("invalid_request", `\`${at}\` must be a number.`, { path: at });
    }
    patterns[pattern] = limits as Changes;
  }
  return patterns;
}
