import { createHash } from "node:crypto";
import { compileGlobs } from "../access/model-glob.ts";
import type { GuardSettings } from "../canon/guard/guard-settings.ts";
import { actsOn } from "./answer-check.ts";
import { type Guard, makeGuard } from "./guard.ts";
import type { TextHook } from "./text-hook.ts";

/** Whose call it is, and what it asks for. */
export interface GuardedCaller {
  readonly project: string;
  readonly keyId: string;
  readonly keyName: string;
  /** The key that made its key. */
  readonly maker?: GuardedCaller | undefined;
}

/** The guards that look at one call, in order. */
export interface GuardsInForce {
  readonly request: readonly Guard[];
  readonly response: readonly Guard[];
  /** Whether a guard may change or stop the response. */
  readonly actsOnResponse: boolean;
  /** Equal if the same guards with the same settings are in force. */
  readonly digest: string;
}

/** The guards of one configuration. */
export class Guards {
  readonly settings: readonly GuardSettings[];
  readonly #guards: readonly { guard: Guard; isFor: Selects }[];
  /** By the places of the guards in it: calls have few combinations. */
  readonly #known = new Map<string, GuardsInForce>();

  /** `hookOf` makes what guards ask outside of the gateway. */
  constructor(settings: readonly GuardSettings[], hookOf: (settings: GuardSettings) => TextHook) {
    this.settings = settings;
    this.#guards = settings.map((one) => ({ guard: makeGuard(one, hookOf), isFor: selects(one) }));
  }

  /** Those of calls that any of these models may answer. Undefined if no guard looks at them. */
  inForce(caller: GuardedCaller, models: readonly string[]): GuardsInForce | undefined {
    const places = this.#guards.flatMap(({ isFor }, place) => (isFor(caller, models) ? [place] : []));
    if (places.length === 0) return undefined;
    const name = places.join();
    let known = this.#known.get(name);
    if (known === undefined) {
      const guards = places.flatMap((place) => this.#guards[place]?.guard ?? []);
      const on = (direction: "request" | "response") =>
        guards.filter(({ settings }) => settings.on.includes(direction));
      known = {
        request: on("request"),
        response: on("response"),
        actsOnResponse: actsOn(on("response")),
        digest: digestOf(guards),
      };
      this.#known.set(name, known);
    }
    return known;
  }
}

type Selects = (caller: GuardedCaller, models: readonly string[]) => boolean;

/** What holds for a key holds for every key that it has made, and for theirs (H76). */
function selects({ for: only = {} }: GuardSettings): Selects {
  const [projects, keys, models] = [only.projects, only.keys, only.models].map((globs) => globs && compileGlobs(globs));
  const isNamed = ({ keyId, keyName, maker }: GuardedCaller): boolean =>
    keys === undefined || keys(keyId) || keys(keyName) || (maker !== undefined && isNamed(maker));
  return (caller, called) =>
    (projects === undefined || projects(caller.project)) &&
    isNamed(caller) &&
    (models === undefined || called.some(models));
}

function digestOf(guards: readonly Guard[]): string {
  const hash = createHash("sha256");
  for (const { settings } of guards) hash.update(JSON.stringify({ ...settings, url: settings.url?.reveal() }));
  return hash.digest("hex");
}
