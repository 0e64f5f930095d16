import type { TSchema } from "typebox";

type Json = Record<string, unknown>;

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS = new Set(["enum", "const", "required", "examples", "default"]);

/**
 * The schemas of requests and responses as OpenAPI components: a schema with a title becomes a component of that name,
 * and is referenced everywhere else.
 */
export class ComponentSchemas {
  readonly #named = new Map<string, { text: string; schema: Json }>();

  /** A reference to the schema, or the schema itself if it has no name. */
  refer(schema: TSchema): Json {
    return this.#convert(schema as Json);
  }

  toJSON(): Record<string, Json> {
    const entries = [...this.#named].map(([name, { schema }]) => [name, schema] as const);
    return Object.fromEntries(entries.sort(([one], [other]) => one.localeCompare(other)));
  }

  #convert(schema: Json): Json {
    const { $defs, $ref, title } = schema;
    if ($defs !== undefined) {
      for (const [name, definition] of Object.entries($defs as Record<string, Json>)) this.#name(name, definition);
    }
    if (typeof $ref === "string") return reference($ref);
    if (typeof title === "string") {
      this.#name(title, schema);
      return reference(title);
    }
    return this.#keywords(schema);
  }

  #name(name: string, schema: Json): void {
    const text = JSON.stringify(schema);
    const known = this.#named.get(name);
    if (known !== undefined) {
      if (known.text !== text) throw new Error(`Two different schemas are named ${name}.`);
      return;
    }
    const entry = { text, schema: {} };
    // Added before its content is read, because a schema may refer to itself.
    this.#named.set(name, entry);
    entry.schema = this.#keywords(schema);
  }

  #keywords(schema: Json): Json {
    const result: Json = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "title" || keyword === "$id") continue;
      if (keyword === "x-expected") result["description"] ??= `Must be ${String(value)}.`;
      else if (DATA_KEYWORDS.has(keyword)) result[keyword] = value;
      else if (keyword === "properties" || keyword === "patternProperties") {
        const entries = Object.entries(value as Record<string, Json>);
        result[keyword] = Object.fromEntries(entries.map(([key, each]) => [key, this.#convert(each)]));
      } else if (Array.isArray(value)) result[keyword] = value.map((each) => this.#convert(each as Json));
      else if (typeof value === "object" && value !== null) result[keyword] = this.#convert(value as Json);
      else result[keyword] = value;
    }
    return result;
  }
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}
