import { UNLISTED } from "../../src/dialects/reading/schema-builders.ts";
import { alternativesOf, type Definitions, type SchemaNode } from "../../src/dialects/reading/schema-node.ts";
import type { DeclaredType, Shape } from "../../testing/sdk-types/declared-type.ts";
import type { Facts, Kind, Vendor } from "./fact.ts";
import type { Knowledge } from "./knowledge.ts";

/** One side of a protocol. */
export interface Side {
  readonly vendor: Vendor;
  readonly protocol: string;
  readonly side: "request" | "answer" | "events";
  readonly knowledge: Knowledge;
}

/** What the other types of the protocol make unnecessary to list. */
export interface Context {
  /** The types of whole responses, which events repeat. */
  readonly answers: ReadonlySet<DeclaredType>;
  /** The fields of requests, which responses repeat. */
  readonly requested: ReadonlySet<string>;
}

/** A value in a request or response. */
interface Place {
  /** The path from the nearest kind on: `tool_use.caller`. A block is the same block wherever it occurs. */
  readonly path: string;
  readonly member: string;
  /** The schema's alternatives here; undefined where there is no schema. */
  readonly nodes: readonly SchemaNode[] | undefined;
}

/** What the types below these members are. Below others they are variants of a parameter, or of a field. */
const KIND_OF_MEMBER: Readonly<Record<string, Kind>> = {
  tools: "tool",
  content: "content",
  content_block: "content",
  delta: "content",
  part: "content",
  system: "content",
  input: "item",
  output: "item",
  item: "item",
  steps: "item",
  step: "item",
};

const TIER = /^(?:service_?tier|speed|trafficType|ttl)$/i;
const STOP = /^(?:stop_reason|finish_reason|finishReason|reason)$/;
const EFFORT = /effort$|^thinkingLevel$/;
const USAGE = /usage/i;
/** Models, voices and betas are not part of a protocol: any name is passed on. */
const OPEN = /^(?:model|voice|betas)$/;

/**
 * Lists every name that a type declares, and whether the gateway knows it. The walk stops at an unknown name, since what is inside is not news,
 * and at an object that a schema leaves open, which is passed on whole.
 */
export function survey(shape: Shape, side: Side, context: Context, facts: Facts): void {
  new Walk(side, context, facts).start(shape);
}

class Walk {
  readonly #side: Side;
  readonly #knowledge: Knowledge;
  readonly #context: Context;
  readonly #facts: Facts;
  readonly #schema: SchemaNode | undefined;
  readonly #definitions: Definitions;
  readonly #seen = new Map<DeclaredType, Set<string>>();
  /** Types around the current place, since types contain themselves. */
  readonly #around = new Set<DeclaredType>();
  readonly #isRequest: boolean;
  /** The kind of what has no other. */
  readonly #other: Kind;

  constructor(side: Side, context: Context, facts: Facts) {
    this.#side = side;
    this.#knowledge = side.knowledge;
    this.#context = context;
    this.#facts = facts;
    this.#schema = side.knowledge.schema as SchemaNode | undefined;
    this.#definitions = definitionsIn(this.#schema);
    this.#isRequest = side.side === "request";
    this.#other = this.#isRequest ? "parameter" : "answer";
  }

  start(shape: Shape): void {
    const nodes = this.#schema === undefined || !this.#isRequest ? undefined : this.#alternatives([this.#schema]);
    for (const type of shape.types) {
      if (this.#side.side !== "events") this.#members(type, "", nodes);
      else this.#kinds(type, { path: "", member: "", nodes: undefined });
    }
  }

  #add(kind: Kind, name: string, known: boolean, place?: string): void {
    const { vendor, protocol } = this.#side;
    this.#facts.add({ vendor, protocol, kind, name, known }, place);
  }

  #visit(shape: Shape, place: Place): void {
    for (const word of shape.words) this.#word(word, place);
    for (const type of shape.types) {
      if (tagOf(type).length > 0) this.#kinds(type, place);
      else this.#members(type, place.path, objectsIn(place.nodes));
    }
  }

  #word(word: string, { path, member, nodes }: Place): void {
    const { tool, stop, vocabulary } = this.#knowledge;
    const isPriced = TIER.test(member) ? this.#knowledge.tier?.(member, word) : undefined;
    if (isPriced !== undefined) this.#add("tier", `${member}=${word}`, isPriced);
    else if (STOP.test(member) && !this.#isRequest && stop !== undefined) this.#add("stop", word, stop(word));
    else if (path === "server_tool_use.name" && tool !== undefined) this.#add("tool", word, tool(word));
    else if (EFFORT.test(member))
      this.#add(this.#other, `${member}=${word}`, [word, word.toLowerCase()].some(vocabulary.hasValue), path);
    else if (nodes?.some(isClosed) && !nodes.some(isAnyText)) {
      this.#add(
        "parameter",
        `${path}=${word}`,
        nodes.some((node) => lists(node, word)),
      );
    }
  }

  /** A type with a tag is one of several kinds. */
  #kinds(type: DeclaredType, place: Place): void {
    for (const word of tagOf(type)) if (word !== PLACEHOLDER) this.#kind(word, type, place);
  }

  #kind(word: string, type: DeclaredType, place: Place): void {
    const listed = place.nodes?.filter((node) => this.#isTagged(node, word)) ?? [];
    const kind = this.#kindAt(place);
    this.#add(kind, word, this.#knowsKind(kind, word, listed), place.path);
    if (kind === "item") {
      for (const tool of this.#knowledge.toolsOf?.(word) ?? []) {
        this.#add("tool", tool, this.#knowledge.tool?.(tool) ?? false, word);
      }
    }
    // What a request may contain without the schema listing it is passed on whole, and so are tools that a response repeats.
    const isRead = this.#isRequest ? listed.length > 0 : kind !== "tool" && this.#knowsKind(kind, word, listed);
    if (isRead) this.#members(type, kind === this.#other ? place.path : word, this.#isRequest ? listed : undefined);
  }

  #kindAt({ path, member }: Place): Kind {
    if (path === "" && this.#side.side === "events") return "event";
    return KIND_OF_MEMBER[member] ?? this.#other;
  }

  #knowsKind(kind: Kind, word: string, listed: readonly SchemaNode[]): boolean {
    const { tool, event, vocabulary } = this.#knowledge;
    if (kind === "tool" && tool !== undefined) return tool(word);
    if (kind === "event" && event?.(word)) return true;
    return listed.length > 0 || vocabulary.hasValue(word);
  }

  #isTagged(node: SchemaNode, word: string): boolean {
    const tag = node.properties?.["type"];
    if (UNLISTED in node || tag === undefined) return false;
    return this.#alternatives([tag]).some((each) => lists(each, word));
  }

  #members(type: DeclaredType, path: string, nodes: readonly SchemaNode[] | undefined): void {
    const seen = this.#seen.get(type) ?? new Set();
    this.#seen.set(type, seen);
    const isOpen = nodes?.some(({ properties }) => properties === undefined);
    const isRepeated = path !== "" && this.#context.answers.has(type);
    if (isOpen || isRepeated || seen.has(path) || this.#around.has(type)) return;
    seen.add(path);
    this.#around.add(type);
    for (const [member, shape] of type.members) this.#member(type, member, shape, path, nodes);
    this.#around.delete(type);
  }

  #member(
    type: DeclaredType,
    member: string,
    shape: Shape,
    path: string,
    nodes: readonly SchemaNode[] | undefined,
  ): void {
    if (TAGS.includes(member) || OPEN.test(member) || (path === "" && this.#knowledge.ofLibrary?.test(member))) return;
    if (USAGE.test(member) && !this.#isRequest) {
      this.#counters(shape, member === "usage" || member === "usageMetadata" ? "" : member, []);
      return;
    }
    const isRepeated = !this.#isRequest && path === "" && this.#context.requested.has(member) && !TIER.test(member);
    if (isRepeated) return;
    const below = nodes?.flatMap(({ properties }) => properties?.[member] ?? []) ?? [];
    const kind = this.#knowledge.kindsIn?.[type.name] ?? this.#other;
    const place = path === "" ? member : `${path}.${member}`;
    const isKnown = this.#knowsMember(kind, member, below);
    this.#add(kind, member, isKnown, place);
    if (!isKnown || (kind === "tool" && below.length === 0)) return;
    const inside = below.length === 0 ? undefined : this.#alternatives(below);
    this.#visit(shape, { path: kind === this.#other ? place : member, member, nodes: inside });
  }

  #knowsMember(kind: Kind, member: string, nodes: readonly SchemaNode[]): boolean {
    const { tool, vocabulary } = this.#knowledge;
    if (kind === "tool" && tool !== undefined) return tool(member);
    return nodes.length > 0 || vocabulary.hasField(member);
  }

  /** Numbers at every depth of a usage. A list by modality has a path for each. */
  #counters(shape: Shape, path: string, around: readonly DeclaredType[]): void {
    const { counter, entry, vocabulary } = this.#knowledge;
    if (shape.numeric) {
      this.#add("counter", path, counter?.(path) ?? path.split(".").every((step) => vocabulary.hasField(step)));
    }
    for (const type of shape.types) {
      if (around.includes(type)) continue;
      for (const kind of type.members.get("type")?.words ?? []) {
        this.#add("counter", `${path}=${kind}`, entry?.(path, kind) ?? vocabulary.hasValue(kind));
      }
      const modalities = [...(type.members.get("modality")?.words ?? [])].map((modality) => `${modality}.`);
      for (const [member, inner] of type.members) {
        if (TIER.test(member)) this.#visit(inner, { path: member, member, nodes: undefined });
        for (const step of modalities.length === 0 ? [""] : modalities) {
          this.#counters(inner, `${path === "" ? "" : `${path}.`}${step}${member}`, [...around, type]);
        }
      }
    }
  }

  /** Of a union, and of the elements of lists. */
  #alternatives(nodes: readonly SchemaNode[]): SchemaNode[] {
    return nodes.flatMap((node) =>
      alternativesOf(node, this.#definitions).flatMap((each) =>
        each.items === undefined ? [each] : this.#alternatives([each.items]),
      ),
    );
  }
}

/** The members that say of which kind an object is. */
const TAGS = ["type", "event_type"];

/** An SDK's kind for everything that it does not know. */
const PLACEHOLDER = "UNKNOWN";

const tagOf = ({ members }: DeclaredType): string[] => TAGS.flatMap((tag) => [...(members.get(tag)?.words ?? [])]);

const objectsIn = (nodes: readonly SchemaNode[] | undefined): readonly SchemaNode[] | undefined => {
  const objects = nodes?.filter(({ type, properties }) => type === "object" || properties !== undefined);
  return objects?.length === 0 ? undefined : objects;
};

/** Whether a schema lists the texts that it accepts. */
const isClosed = ({ const: only, enum: some, pattern }: SchemaNode): boolean =>
  typeof only === "string" || some !== undefined || pattern !== undefined;

const isAnyText = (node: SchemaNode): boolean => !isClosed(node) && (node.type === undefined || node.type === "string");

function lists({ const: only, enum: some, pattern }: SchemaNode, word: string): boolean {
  if (only !== undefined) return only === word;
  if (some !== undefined) return some.includes(word);
  return pattern !== undefined && new RegExp(pattern).test(word);
}

/** Schemas that refer to themselves define their names where they begin. */
function definitionsIn(schema: SchemaNode | undefined): Definitions {
  const found: Record<string, SchemaNode> = {};
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if ("$defs" in node) Object.assign(found, node.$defs);
    for (const child of Object.values(node)) visit(child);
  };
  visit(schema);
  return found;
}
