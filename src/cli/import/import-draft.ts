import { withoutAbsent } from "../../base/without-absent.ts";
import { builtInModels } from "../../catalogue/built-in-models.ts";
import type { BuiltInModel } from "../../catalogue/model.ts";
import { PROVIDER_KINDS } from "../../providers/index.ts";

/** The result of importing a field of the file. */
export interface ImportNote {
  /** Where it is in that file. */
  path: string;
  note: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** What is known about a model that clients call by one name. */
export interface ModelHints {
  /** What the upstream model is called elsewhere, best first. */
  names?: readonly (string | undefined)[];
  pricings?: Fields | undefined;
  contextLength?: number | undefined;
  maxOutputTokens?: number | undefined;
  outputModalities?: readonly string[] | undefined;
}

interface Group {
  path: string;
  offers: { provider: string; model: string; weight?: number; place: number }[];
  hints: ModelHints;
}

const NAME_CHARACTERS = /[^A-Za-z0-9._-]+/g;
const LONGEST_NAME = 64;

/** Collects a configuration while another program's file is read, and the result for each of its fields. */
export class ImportDraft {
  readonly taken: ImportNote[] = [];
  readonly approximated: ImportNote[] = [];
  readonly left: ImportNote[] = [];
  /** Sections other than providers, models and aliases. */
  readonly sections: Record<string, unknown> = {};
  readonly #source: string;
  readonly #providers = new Map<string, { key: string; fields: Fields }>();
  readonly #groups = new Map<string, Group>();
  readonly #aliases = new Map<string, { path: string; to: string }>();
  readonly #known = builtInModels;

  /** `source` is the other program, in whose name models are listed that the catalogue does not know. */
  constructor(source: string) {
    this.#source = source;
  }

  take(path: string, note: string): void {
    this.taken.push({ path, note });
  }

  approximate(path: string, note: string): void {
    this.approximated.push({ path, note });
  }

  leave(path: string, note: string): void {
    this.left.push({ path, note });
  }

  /** The name of the provider with these fields; the same fields get the same name. */
  provider(fields: Fields & { kind: string }, wanted = fields.kind): string {
    const key = JSON.stringify(fields);
    for (const [name, known] of this.#providers) if (known.key === key) return name;
    const base =
      wanted
        .replace(NAME_CHARACTERS, "-")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, LONGEST_NAME - 4) || fields.kind;
    let name = base;
    for (let count = 2; this.#providers.has(name) || name === "simulator"; count++) name = `${base}-${count}`;
    this.#providers.set(name, { key, fields });
    return name;
  }

  /** One way to serve the model that clients call by that name. */
  offer(
    group: string,
    offer: { provider: string; model: string; weight?: number; place?: number },
    at: { path: string; hints: ModelHints },
  ): void {
    const known = this.#groups.get(group);
    const { place = 0, ...rest } = offer;
    if (known === undefined) {
      this.#groups.set(group, { path: at.path, offers: [{ ...rest, place }], hints: at.hints });
      return;
    }
    const isSame = known.offers.some(({ provider, model }) => provider === offer.provider && model === offer.model);
    if (isSame) this.approximate(at.path, "is the same provider and model as an earlier entry, so it is offered once");
    else known.offers.push({ ...rest, place });
  }

  alias(name: string, to: string, path: string): void {
    this.#aliases.set(name, { path, to });
  }

  hasGroup(name: string): boolean {
    return this.#groups.has(name);
  }

  /** The ids of the models, by the names that clients use. */
  ids(): Map<string, string> {
    const ids = new Map<string, string>();
    const used = new Set<string>();
    for (const [name, { hints }] of this.#groups) {
      const known = this.#knownModel(name, hints);
      const id = known !== undefined && !used.has(known.id) ? known.id : this.#ownId(name, used);
      used.add(id);
      ids.set(name, id);
    }
    return ids;
  }

  /** The content of `trivium.yaml`. */
  file(): Record<string, unknown> {
    const ids = this.ids();
    const taken = new Set(ids.values());
    const models = [...this.#groups].map(([name, group]) => this.#model(name, ids.get(name) ?? name, group));
    const aliases = new Map<string, string>();
    for (const [name, id] of ids)
      if (name !== id) this.#addAlias(aliases, { name, id, path: this.#groups.get(name)?.path ?? "" }, taken);
    for (const [name, { path, to }] of this.#aliases) {
      const id = ids.get(to);
      if (id === undefined) this.leave(path, `refers to ${to}, which was not imported`);
      else this.#addAlias(aliases, { name, id, path }, taken);
    }
    return {
      ...(this.#providers.size === 0
        ? {}
        : { providers: Object.fromEntries([...this.#providers].map(([name, { fields }]) => [name, fields])) }),
      ...(models.length === 0 ? {} : { models }),
      ...(aliases.size === 0 ? {} : { aliases: Object.fromEntries(aliases) }),
      ...this.sections,
    };
  }

  #addAlias(
    aliases: Map<string, string>,
    { name, id, path }: { name: string; id: string; path: string },
    taken: ReadonlySet<string>,
  ) {
    if (/\s/.test(name) || name.length > 128)
      this.leave(path, `the name ${JSON.stringify(name)} cannot be an alias; call ${id}`);
    else if (taken.has(name) || this.#known.some((model) => model.id === name))
      this.leave(path, `${name} is the id of another model; call ${id}`);
    else if (!aliases.has(name)) aliases.set(name, id);
  }

  #model(name: string, id: string, { path, offers, hints }: Group): Record<string, unknown> {
    const known = this.#knownModel(name, hints);
    const isOwn = known?.id !== id;
    const pricings = hints.pricings ?? (isOwn ? known?.pricings : undefined);
    const model = withoutAbsent({
      id,
      context_length: hints.contextLength ?? (isOwn ? known?.contextLength : undefined),
      max_output_tokens: hints.maxOutputTokens ?? (isOwn ? known?.maxOutputTokens : undefined),
      input_modalities: isOwn ? known?.inputModalities : undefined,
      output_modalities: isOwn ? (hints.outputModalities ?? known?.outputModalities) : undefined,
      reasoning: isOwn ? known?.reasoning : undefined,
      pricings,
      offers: [...offers].sort((one, other) => one.place - other.place).map(({ place: _place, ...offer }) => offer),
    });
    if (isOwn && pricings === undefined)
      this.approximate(path, `no price of ${id} is known: set its pricings, or its calls are reported as unpriced`);
    return model;
  }

  #ownId(name: string, used: ReadonlySet<string>): string {
    const slug = name.replace(NAME_CHARACTERS, "-").replace(/^-+|-+$/g, "") || "model";
    let id = `${this.#source}/${slug}`;
    for (let count = 2; used.has(id); count++) id = `${this.#source}/${slug}-${count}`;
    return id;
  }

  #knownModel(name: string, { names = [] }: ModelHints): BuiltInModel | undefined {
    for (const one of [name, ...names]) {
      if (one === undefined) continue;
      const found = this.#known.find(
        (model) => model.id === one || model.id.slice(model.id.indexOf("/") + 1) === one || model.upstreamModel === one,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Whether a kind has a field besides those of every kind. */
export function kindTakes(kind: string, field: string): boolean {
  const fields = PROVIDER_KINDS.get(kind)?.fields;
  return fields !== undefined && [...fields.required, ...fields.optional].includes(field);
}

/** A reference to an environment variable, as the configuration writes it. */
export const reference = (variable: string): string => `\${${variable}}`;

/** A text that is no reference, as the configuration writes it. */
export const literal = (text: string): string => text.replaceAll("$", "$$$$");

/** An entry of a table by a name from a file, which may be one that every object has. */
export const entryOf = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** A number of dollars for one token, as a price of a million of them. */
export function perMillionTokens(usd: number): readonly Fields[] {
  const value = Number((usd * 1_000_000).toPrecision(12));
  return [{ value, unit: "perMTokens", currency: "USD" }];
}
