import type { Account } from "../account.ts";
import { type Bound, boundOf } from "../bound.ts";
import type { Level, LevelName } from "../level.ts";
import { matches } from "../model-glob.ts";
import type { EndUsers } from "./end-users.ts";
import { type PartScope, patternLevels } from "./part-limits.ts";

/** What decides which parts of its key, project and gateway a call belongs to. */
export interface CallParts {
  model: string;
  tags?: readonly string[] | undefined;
  endUser?: string | undefined;
}

interface PartBoundsOptions {
  account: (level: LevelName, id: string) => Account;
  users: EndUsers;
}

/** Callers invent tags: this many are remembered with the patterns that match them. */
const MAX_KNOWN = 1_000;
const NONE: readonly Bound[] = [];

/** The limits for end users, models and tags that apply to the calls of one key. Made once for each key. */
export class PartBounds {
  readonly #users: EndUsers;
  readonly #scopes: readonly PartScope[];
  readonly #models: readonly Bound[];
  readonly #tags: readonly Bound[];
  readonly #byModel = new Map<string, readonly Bound[]>();
  readonly #byTag = new Map<string, readonly Bound[]>();

  constructor(scopes: readonly PartScope[], { account, users }: PartBoundsOptions) {
    const bound = (level: Level) => boundOf(account(level.level, level.id), level);
    this.#users = users;
    this.#scopes = scopes.filter(({ limits }) => limits.endUsers !== undefined);
    this.#models = scopes.flatMap((scope) => patternLevels(scope, "model").map(bound));
    this.#tags = scopes.flatMap((scope) => patternLevels(scope, "tag").map(bound));
  }

  /** Whether any model is limited. */
  get limitsModels(): boolean {
    return this.#models.length > 0;
  }

  /** Those of a call's end user and tags; a promise if the state of its end user must be loaded. */
  find(call: CallParts): readonly Bound[] | Promise<readonly Bound[]> {
    const fixed = this.#ofTags(call);
    const { endUser } = call;
    if (endUser === undefined || this.#scopes.length === 0) return fixed;
    const found = [...fixed];
    for (const scope of this.#scopes) {
      const bound = this.#users.bound(scope, endUser);
      if (bound === undefined) return this.#load(fixed, endUser);
      found.push(bound);
    }
    return found;
  }

  /** Without end users that are not in memory: their state comes from the storage. */
  known(call: CallParts): readonly Bound[] {
    const { endUser } = call;
    const bounds = endUser === undefined ? [] : this.#scopes.map((scope) => this.#users.bound(scope, endUser));
    return [...this.#ofTags(call), ...bounds.filter((bound) => bound !== undefined)];
  }

  /** Whether a call belongs to any of them. */
  appliesTo(call: CallParts & { offers?: readonly { model: string }[] | undefined }): boolean {
    const isModelLimited = (call.offers ?? [call]).some(({ model }) => this.ofModel(model).length > 0);
    return isModelLimited || this.#ofTags(call).length > 0 || (call.endUser !== undefined && this.#scopes.length > 0);
  }

  /** Those of a model. */
  ofModel(model: string): readonly Bound[] {
    return this.#models.length === 0 ? NONE : matching(this.#models, model, this.#byModel);
  }

  /** The end user's accounts, which stay in memory until they are released. */
  hold(endUser: string) {
    return this.#scopes.flatMap((scope) => this.#users.hold(scope, endUser) ?? []);
  }

  async #load(fixed: readonly Bound[], endUser: string): Promise<readonly Bound[]> {
    const users = await Promise.all(this.#scopes.map((scope) => this.#users.load(scope, endUser)));
    return [...fixed, ...users];
  }

  /** The accounts of the call's model and tags. */
  fixed(call: CallParts): Account[] {
    return [...this.ofModel(call.model), ...this.#ofTags(call)].map(({ account }) => account);
  }

  #ofTags({ tags }: CallParts): readonly Bound[] {
    if (tags === undefined || this.#tags.length === 0) return NONE;
    const found = new Set<Bound>();
    for (const tag of tags) for (const bound of matching(this.#tags, tag, this.#byTag)) found.add(bound);
    return [...found];
  }
}

function matching(bounds: readonly Bound[], name: string, known: Map<string, readonly Bound[]>): readonly Bound[] {
  let found = known.get(name);
  if (found === undefined) {
    found = bounds.filter(({ level }) => matches(level.name, name));
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(name, found);
  }
  return found;
}
