import type { DocumentNode, MapNode, Position } from "./document-node.ts";
import { hideReferences, restoreReferences } from "./variables.ts";

/** For what has no position here. `readPlacedDocument` knows every position. */
export const NOWHERE: Position = { line: 0, column: 0 };

/**
 * Reads a configuration with the runtime's parser. It is fast and costs no memory, but it has no positions, and of two equal keys it
 * silently keeps the last. Undefined if the text has a mistake, or something that this parser may read differently from YAML's
 * rules: `readPlacedDocument` decides then.
 *
 * To find repeated keys, each key gets a unique marker at its end before the text is parsed, and loses it afterwards. No two keys
 * are then equal to the parser. A key that comes back without a marker makes the whole text undecided. A marker also leads to the
 * position of the scalar that follows its key on the same line.
 */
export function readDocument(source: string): MapNode | undefined {
  const text = source.replaceAll("\r\n", "\n");
  if (AMBIGUOUS.test(text) || (text.startsWith("{") ? COMMENT_LINE : CLOSING_LINE).test(text)) return undefined;
  const positions: Position[] = [];
  const marked = mark(hideReferences(text), positions);
  try {
    const root = nodeOf(Bun.YAML.parse(marked), NOWHERE, positions, 0);
    return root.kind === "map" ? root : undefined;
  } catch (error) {
    if (error === UNDECIDED || error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

const UNDECIDED = Symbol("undecided");

/** What this parser may read differently, or what would get in the way of the markers. */
const AMBIGUOUS = new RegExp(
  [
    // Control characters, tabs among them, other line ends, a byte order mark, and the marker's own character.
    "[^\\n -\\uffff]|[\\u007f-\\u009f\\u2028\\u2029\\ue100\\ufeff]",
    // Directives: %YAML 1.1 changes what words mean.
    "^%",
    // Texts of several lines: block scalars, and escaped line ends.
    "(?:^|[:-] ) *[>|]|\\\\$",
    // A comma at the beginning of a text.
    "(?<!\\S),",
    // Tags, anchors, aliases, and -0x1F, which is a text.
    "(?<![^\\s,:?[{-])(?:!|[&*]\\S|[-+]0[ox])",
  ].join("|"),
  "im",
);

/** A closing bracket at the start of a line. The runtime does not check its indentation. */
const CLOSING_LINE = /^ *[\]}]/m;

/** A comment at the start of a line. Between an element and its closing bracket, the package reports it as an error. */
const COMMENT_LINE = /^#/m;

/** A line end, or the end of a key: its closing quote, the colon, and the spaces before and after the colon. */
const LINE_OR_KEY = /\n|(?<=[^\s,:?[\\{-])(?:["'] *:| *:(?=[\s,[\]{}]|$)) */g;

function mark(source: string, positions: Position[]): string {
  let line = 1;
  let lineStart = 0;
  return source.replace(LINE_OR_KEY, (found, offset: number) => {
    const end = offset + found.length;
    if (found === "\n") {
      line++;
      lineStart = end;
      return found;
    }
    const isBelow = /[\n#]/.test(source[end] ?? "\n");
    return `\ue100${positions.push(isBelow ? NOWHERE : { line, column: end - lineStart + 1 }) - 1}\ue100${found}`;
  });
}

const MARKER = /\ue100\d+\ue100/g;
const MARKED_KEY = /^([^\ue100]{1,200})\ue100(\d+)\ue100$/;
/** Keys that YAML does not take for text, such as 08, which is 8. */
const NOT_TEXT = /^(?:<<|~|null|true|false|[-+.\d][-+.\da-fox]*|[-+]?\.(?:inf|nan))$/i;
const MAX_DEPTH = 16;

function nodeOf(value: unknown, position: Position, positions: readonly Position[], depth: number): DocumentNode {
  if (typeof value === "string") {
    return { kind: "scalar", position, value: restoreReferences(value.replace(MARKER, "")) };
  }
  if (typeof value !== "object" || value === null) return { kind: "scalar", position, value };
  if (depth > MAX_DEPTH) throw UNDECIDED;
  if (Array.isArray(value)) {
    const items = value.map((item) => nodeOf(item, NOWHERE, positions, depth + 1));
    return { kind: "list", position: NOWHERE, items };
  }
  const entries: MapNode["entries"] = new Map();
  for (const [marked, member] of Object.entries(value)) {
    const [, key, index] = MARKED_KEY.exec(marked) ?? [];
    if (key === undefined || NOT_TEXT.test(key)) throw UNDECIDED;
    const name = restoreReferences(key);
    if (entries.has(name)) throw UNDECIDED;
    entries.set(name, {
      position: NOWHERE,
      node: nodeOf(member, positions[Number(index)] ?? NOWHERE, positions, depth + 1),
    });
  }
  return { kind: "map", position: NOWHERE, entries };
}
