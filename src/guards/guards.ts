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
  readonly #guards: readonly { guard: Guard; isFor: (caller: GuardedCaller, model: string) => boolean }[];
  /** By the places of the guards in it: calls have few combinations. */
  readonly #known = new Map<string, GuardsInForce>();

  /** `hookOf` makes what guards ask outside of the gateway. */
  constructor(settings: readonly GuardSettings[], hookOf: (settings: GuardSettings) => TextHook) {
    this.settings = settings;
    this.#guards = settings.map((one) => ({ guard: makeGuard(one, hookOf), isFor: selects(one) }));
  }

  /** Undefined if no guard looks at the call. */
  inForce(caller: GuardedCaller, model: string): GuardsInForce | undefined {
    const places = this.#guards.flatMap(({ isFor }, place) => (isFor(caller, model) ? [place] : []));
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

function selects({ for: only = {} }: GuardSettings): (caller: GuardedCaller, model: string) => boolean {
  const [projects, keys, models] = [only.projects, only.keys, only.models].map((globs) => globs && compileGlobs(globs));
  return ({ project, keyId, keyName }, model) =>
    (projects === undefined || projects(project)) &&
    (keys === undefined || keys(keyId) || keys(keyName)) &&
    (models === undefined || models(model));
}

function digestOf(guards: readonly Guard[]): string {
  const hash = createHash("sha256");
  for (const { settings } of guards) hash.update(JSON.stringify({ ...settings, url: settings.url?.reveal() }));
  return hash.digest("hex");
}
