import { arrayAt, isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { sumUsage, type Usage, type UsagePass } from "../../../canon/usage.ts";

/** The pass of a fallback model that answered instead of the requested one. */
const FALLBACK = "fallback_message";

/** Passes of the model that answers. The counters of the whole usage are their sum. */
const OWN_PASSES: ReadonlySet<string> = new Set(["message", FALLBACK]);

/** Passes that the host runs itself. The counters of the whole usage do not include them. */
const OTHER_PASSES: ReadonlySet<string> = new Set(["compaction", "advisor_message"]);

/** No response has more. Passes beyond the limit are billed with the last one. */
const MAX_PASSES = 32;

type PassesOfUsage = Pick<Usage, "passes" | "rounds" | "servedBy" | "unknown"> & {
  /** The counters of the passes that answered. */
  own?: Usage;
};

/**
 * What `usage.iterations` adds to the counters of the whole usage (H33). `decode` reads the counters of one pass. Unknown kinds
 * are billed, and their names are added to the unknown counters. After a fallback, passes of models that declined are not billed.
 */
export function readPasses(raw: JsonObject, decode: (pass: JsonObject) => Usage): PassesOfUsage {
  const reported = arrayAt(raw, "iterations").filter(isObject);
  if (reported.length === 0) return NONE;
  const servedBy = stringAt(
    reported.findLast((pass) => kindOf(pass) === FALLBACK),
    "model",
  );
  const passes: UsagePass[] = [];
  const unknown = new Set<string>();
  let rounds = 0;
  let own: Usage = {};
  for (const pass of reported) {
    const usage = decode(pass);
    const kind = kindOf(pass);
    if (Object.keys(usage).length === 0) continue;
    const model = stringAt(pass, "model");
    if (OWN_PASSES.has(kind)) {
      const declined = servedBy !== undefined && kind !== FALLBACK && model !== servedBy;
      if (declined) continue;
      rounds++;
      own = sumUsage(own, usage);
      continue;
    }
    if (!OTHER_PASSES.has(kind)) unknown.add(counterOf(kind));
    const last = passes.at(-1);
    if (passes.length < MAX_PASSES || last === undefined) {
      passes.push(withoutAbsent({ kind, model, usage }));
    } else last.usage = sumUsage(last.usage, usage);
  }
  return {
    ...(passes.length === 0 ? {} : { passes }),
    ...(rounds > 1 ? { rounds } : {}),
    ...(servedBy === undefined ? {} : { servedBy }),
    ...(rounds > 0 || servedBy !== undefined ? { own } : {}),
    ...(unknown.size === 0 ? {} : { unknown: [...unknown] }),
  };
}

const NONE: PassesOfUsage = {};

const counterOf = (kind: string): string => `usage.iterations.${/^[a-z0-9_]{1,40}$/.test(kind) ? kind : "other"}`;

const kindOf = (pass: JsonObject): string => stringAt(pass, "type") ?? "message";
