import { nameOf, publisherOf } from "./model.ts";

/** The names of a vendor's model: its id here, and its name at the vendor's own service. */
interface NamedModel {
  id: string;
  upstreamNames: readonly string[];
}

interface VendorMatch {
  /** The models that the name can mean; exactly one is a match. */
  ids: readonly string[];
  /** The name includes a release date, which the id does not distinguish. */
  dated: boolean;
}

const NO_MATCH: VendorMatch = { ids: [], dated: false };
/** No model has a longer name: a caller's longer text is not looked up. */
const MAX_NAME_LENGTH = 128;

/** Prefixes that vendors' clients add to a name. */
const RESOURCE = /^(?:publishers\/([^/]+\/))?models\//;
/** The day at the end of a vendor's name: `-20250929`, `@20250929`, `-2025-08-07`. */
const DAY = /-20\d\d-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])$/;
const LATEST = /-latest$/;
/** The forms of a release date in vendors' ids: the days above, and `-2512`, `-260215`, `-03-2025`. */
const RELEASE = /-(20\d\d-?\d\d-?\d\d|\d{6}|\d{4}|\d\d-20\d\d)$/;

/**
 * Vendors' own names for the models of the catalogue (choices 1): without the publisher, with dots for dashes or the other way round,
 * with the day of a release, with `-latest`. The index is made once; a lookup costs the same for every name.
 */
export class VendorNames {
  readonly #names = new Map<string, string[]>();
  readonly #upstreamNames = new Map<string, string[]>();
  /** By the name without its release date, for `-latest`. */
  readonly #families = new Map<string, string[]>();

  constructor(models: Iterable<NamedModel>) {
    for (const { id, upstreamNames } of models) {
      const name = plain(nameOf(id));
      push(this.#names, name, id);
      for (const upstreamName of upstreamNames) push(this.#upstreamNames, plain(upstreamName), id);
      push(this.#families, name.replace(LATEST, "").replace(RELEASE, ""), id);
    }
  }

  find(wanted: string): VendorMatch {
    if (wanted.length > MAX_NAME_LENGTH) return NO_MATCH;
    const path = wanted.replace(RESOURCE, (_, publisher?: string) => publisher ?? "");
    const whole = this.#search(plain(path));
    const slash = path.indexOf("/");
    if (slash < 0 || whole.ids.length > 0) return whole;
    const publisher = path.slice(0, slash).toLowerCase();
    const { ids, dated } = this.#search(plain(path.slice(slash + 1)));
    return { ids: ids.filter((id) => publisherOf(id) === publisher), dated };
  }

  #search(name: string): VendorMatch {
    const exact = this.#exact(name);
    if (exact !== undefined) return { ids: exact, dated: false };
    if (LATEST.test(name)) {
      const family = name.replace(LATEST, "");
      return { ids: this.#exact(family) ?? this.#families.get(family) ?? [], dated: false };
    }
    const undated = name.replace(DAY, "");
    if (undated === name) return NO_MATCH;
    // Of some models the catalogue has only the name that always means the newest release.
    return { ids: this.#exact(undated) ?? this.#exact(`${undated}-latest`) ?? [], dated: true };
  }

  #exact(name: string): readonly string[] | undefined {
    return this.#names.get(name) ?? this.#upstreamNames.get(name);
  }
}

function push(index: Map<string, string[]>, key: string, id: string): void {
  const ids = index.get(key);
  if (ids === undefined) index.set(key, [id]);
  else if (!ids.includes(id)) ids.push(id);
}

/** One spelling for `claude-sonnet-4.5`, `claude-sonnet-4-5` and `Claude_Sonnet_4_5`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[._@\s]/g, "-");
}
