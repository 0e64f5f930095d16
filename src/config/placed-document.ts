import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  Scalar,
  type YAMLError,
  type YAMLMap,
} from "yaml";
import type { DocumentNode, MapEntry, MapNode, Position, Report, ScalarNode } from "./document-node.ts";
import { hideReferences, restoreReferences } from "./variables.ts";

/** Limits for anchors that repeat or contain themselves. */
const MAX_NODES = 500_000;
const MAX_DEPTH = 32;

/**
 * Reads a configuration with the position of everything in it, and reports what YAML does not allow. Undefined if nothing can be
 * read. The package costs 12 MB for as long as the gateway runs, so load this module only when it is needed (docs/decisions/0071).
 */
export function readPlacedDocument(source: string, report: Report): DocumentNode | undefined {
  const lines = new LineCounter();
  const document = parseDocument(hideReferences(source), { lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings];
  for (const fault of faults) report(positionOf(lines, fault.pos[0]), faultMessage(fault));
  if (faults.some((fault) => fault.code !== "DUPLICATE_KEY")) return undefined;
  if (document.contents === null) return { kind: "map", position: { line: 1, column: 1 }, entries: new Map() };
  return new Builder(document, lines, report).build(document.contents);
}

function positionOf(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function faultMessage(fault: YAMLError): string {
  switch (fault.code) {
    case "DUPLICATE_KEY":
      return "duplicate field";
    case "MULTIPLE_DOCS":
      return "a second YAML document starts here; the file must contain only one";
    case "UNEXPECTED_TOKEN":
      // The parser puts the text that it could not read after a colon, and that text may be a secret.
      return `YAML syntax error: ${fault.message.replace(/: .*/s, "")}`;
    default:
      return `YAML syntax error: ${fault.message}`;
  }
}

class Builder {
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #report: Report;
  readonly #targets = new Map<Alias, ReturnType<Alias["resolve"]>>();
  #nodes = 0;
  #boundless: Position | undefined;

  constructor(document: Document.Parsed, lines: LineCounter, report: Report) {
    this.#document = document;
    this.#lines = lines;
    this.#report = report;
  }

  build(root: ParsedNode): DocumentNode | undefined {
    const built = this.#node(root, this.#position(root), 0);
    if (this.#boundless === undefined) return built;
    this.#report(this.#boundless, `aliases expand here to more than ${MAX_NODES} values, or deeper than ${MAX_DEPTH}`);
    return undefined;
  }

  #position(node: { range?: readonly number[] | null }): Position {
    return positionOf(this.#lines, node.range?.[0] ?? 0);
  }

  #node(source: unknown, around: Position, depth: number): DocumentNode {
    const empty: ScalarNode = { kind: "scalar", position: around, value: null };
    if (++this.#nodes > MAX_NODES || depth > MAX_DEPTH) {
      this.#boundless ??= around;
      return empty;
    }
    if (isAlias(source)) {
      const target = this.#target(source);
      if (target !== undefined) return this.#node(target, this.#position(target), depth + 1);
      this.#report(this.#position(source), `undefined alias: no anchor &${source.source} above this alias`);
      return empty;
    }
    if (isMap(source)) return this.#map(source, depth);
    if (isSeq(source)) {
      const position = this.#position(source);
      return { kind: "list", position, items: source.items.map((item) => this.#node(item, position, depth + 1)) };
    }
    if (!isScalar(source)) return empty;
    const { value } = source;
    return {
      kind: "scalar",
      position: this.#position(source),
      value: typeof value === "string" ? restoreReferences(value) : value,
    };
  }

  /** The parser searches the whole document for each anchor, so the anchors are collected once. */
  #target(alias: Alias) {
    if (!this.#targets.has(alias)) this.#targets.set(alias, alias.resolve(this.#document));
    return this.#targets.get(alias);
  }

  #map(source: YAMLMap, depth: number): MapNode {
    const entries = new Map<string, MapEntry>();
    const merged: DocumentNode[] = [];
    for (const { key, value } of source.items) {
      if (!isScalar(key)) {
        this.#report(this.#position(source), "field names must be plain text");
        continue;
      }
      const position = this.#position(key);
      const node = this.#node(value, position, depth + 1);
      if (key.value === "<<" && key.type === Scalar.PLAIN) merged.push(...(node.kind === "list" ? node.items : [node]));
      else entries.set(restoreReferences(String(key.value)), { position, node });
    }
    for (const node of merged) {
      if (node.kind !== "map") this.#report(node.position, "<< requires a mapping or a list of mappings");
      else for (const [name, entry] of node.entries) if (!entries.has(name)) entries.set(name, entry);
    }
    return { kind: "map", position: this.#position(source), entries };
  }
}
