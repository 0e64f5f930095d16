/** What an SDK can name, in the order of what an unknown name costs a user, and what that is. */
export const KINDS = {
  counter: { title: "Usage counters", cost: "The bill may be wrong; the receipt marks the usage as not fully priced." },
  tool: { title: "Tools", cost: "A request with it has no price, and is refused or marked." },
  tier: { title: "Tiers and terms", cost: "A request with it has no price, and is refused or marked." },
  content: { title: "Content kinds", cost: "Passed on in the same protocol; lost, with a note, in another." },
  item: { title: "Items", cost: "Passed on in the same protocol; lost, with a note, in another." },
  event: { title: "Stream events", cost: "Passed on in the same protocol; lost in another." },
  stop: { title: "Stop reasons", cost: "Passed on in the same protocol; `other` in another." },
  answer: { title: "Fields of responses", cost: "Passed on in the same protocol; lost in another." },
  header: { title: "Headers", cost: "Not forwarded, and not returned." },
  endpoint: { title: "Endpoints", cost: "Answered with 404." },
  parameter: {
    title: "Request parameters",
    cost: "Passed on in the same protocol; lost, with a note, in another. A value that a schema does not list is refused.",
  },
} as const;
export type Kind = keyof typeof KINDS;

export const VENDORS = ["OpenAI", "Anthropic", "Google"] as const;
export type Vendor = (typeof VENDORS)[number];

/** One name that a vendor's SDKs declare. */
export interface Fact {
  readonly vendor: Vendor;
  /** A dialect, or a service such as `images`. */
  readonly protocol: string;
  readonly kind: Kind;
  readonly name: string;
  /** Whether a schema, table or mapping of the gateway names it. */
  readonly known: boolean;
}

/** A fact with every place where it was found. */
export interface PlacedFact extends Fact {
  /** `tool_use.caller`; empty if the name says it all. */
  readonly places: ReadonlySet<string>;
}

export const keyOf = ({ vendor, protocol, kind, name }: Omit<Fact, "known">): string =>
  [vendor, protocol, kind, name].join(" ");

/** Facts by key. A name that occurs in several places is known if it is known in one of them. */
export class Facts {
  readonly #facts = new Map<string, PlacedFact & { places: Set<string> }>();

  add(fact: Fact, place = ""): void {
    const key = keyOf(fact);
    const before = this.#facts.get(key);
    const places = before?.places ?? new Set();
    if (place !== "" && place !== fact.name) places.add(place);
    this.#facts.set(key, { ...fact, known: fact.known || (before?.known ?? false), places });
  }

  get(key: string): PlacedFact | undefined {
    return this.#facts.get(key);
  }

  [Symbol.iterator](): Iterator<PlacedFact> {
    return this.#facts.values();
  }
}
