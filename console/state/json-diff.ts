/** One difference between two JSON texts. */
export type JsonChange =
  | { kind: "added"; path: string; after: unknown }
  | { kind: "removed"; path: string; before: unknown }
  | { kind: "changed"; path: string; before: unknown; after: unknown }
  | { kind: "moved"; path: string; to: string; value: unknown };

export interface JsonDiff {
  changes: readonly JsonChange[];
  /** What both sides have at the same place: whole branches where all of them are equal. */
  equal: readonly { path: string; value: unknown }[];
}

/** An integer beyond what a number holds, with its digits. */
class LargeNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** Undefined if it is not JSON, such as the events of a stream or a truncated body. Large integers keep their digits. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
        ? new LargeNumber(context?.source ?? "")
        : value,
    );
  } catch {
    return undefined;
  }
}

type Branch = Record<string, unknown> | unknown[];

const isBranch = (value: unknown): value is Branch =>
  typeof value === "object" && value !== null && !(value instanceof LargeNumber);

const isMap = (value: unknown): value is Record<string, unknown> => isBranch(value) && !Array.isArray(value);

/** Equal values have equal texts, whatever the order of their keys. */
function textOf(value: unknown): string {
  if (value instanceof LargeNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (!isMap(value)) return JSON.stringify(value) ?? "";
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${textOf(value[key])}`).join()}}`;
}

const inPath = (path: string, key: string): string => {
  const name = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? key : JSON.stringify(key);
  return path === "" ? name : name === key ? `${path}.${name}` : `${path}[${name}]`;
};

/** Differences by path. Reordered keys are equal; a value that is elsewhere on the other side has moved. */
export function jsonDiff(before: unknown, after: unknown): JsonDiff {
  const changes: JsonChange[] = [];
  const equal: { path: string; value: unknown }[] = [];
  compare(before, after, "", changes, equal);
  return { changes: withMoves(changes), equal };
}

function compare(
  before: unknown,
  after: unknown,
  path: string,
  changes: JsonChange[],
  equal: { path: string; value: unknown }[],
): void {
  if (textOf(before) === textOf(after)) {
    equal.push({ path, value: after });
  } else if (isMap(before) && isMap(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const at = inPath(path, key);
      if (!Object.hasOwn(after, key)) changes.push({ kind: "removed", path: at, before: before[key] });
      else if (!Object.hasOwn(before, key)) changes.push({ kind: "added", path: at, after: after[key] });
      else compare(before[key], after[key], at, changes, equal);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(before, after, path, changes, equal);
  } else {
    changes.push({ kind: "changed", path, before, after });
  }
}

/** Items are compared from both ends, so that one more at the beginning does not make all others different. */
function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  changes: JsonChange[],
  equal: { path: string; value: unknown }[],
): void {
  const [one, two] = [before.map(textOf), after.map(textOf)];
  const least = Math.min(one.length, two.length);
  let head = 0;
  while (head < least && one[head] === two[head]) head++;
  let tail = 0;
  while (tail < least - head && one[one.length - 1 - tail] === two[two.length - 1 - tail]) tail++;
  for (let index = 0; index < head; index++) equal.push({ path: `${path}[${index}]`, value: after[index] });
  const [removed, added] = [before.length - head - tail, after.length - head - tail];
  for (let index = head; index < head + Math.max(removed, added); index++) {
    const at = `${path}[${index}]`;
    if (index >= head + removed) changes.push({ kind: "added", path: at, after: after[index] });
    else if (index >= head + added) changes.push({ kind: "removed", path: at, before: before[index] });
    else compare(before[index], after[index], at, changes, equal);
  }
  for (let index = after.length - tail; index < after.length; index++)
    equal.push({ path: `${path}[${index}]`, value: after[index] });
}

/** Short values are the same by chance. */
const MIN_MOVED_LENGTH = 6;

/** A value that was removed at one place and added at one other. */
function withMoves(changes: readonly JsonChange[]): JsonChange[] {
  const places = new Map<string, { from: JsonChange[]; to: JsonChange[] }>();
  for (const change of changes) {
    if (change.kind !== "removed" && change.kind !== "added") continue;
    const text = textOf(change.kind === "removed" ? change.before : change.after);
    if (text.length < MIN_MOVED_LENGTH) continue;
    const found = places.get(text) ?? { from: [], to: [] };
    found[change.kind === "removed" ? "from" : "to"].push(change);
    places.set(text, found);
  }
  const moved = new Map<JsonChange, string>();
  const arrived = new Set<JsonChange>();
  for (const { from, to } of places.values()) {
    const [source, target] = [from[0], to[0]];
    if (from.length !== 1 || to.length !== 1 || source === undefined || target === undefined) continue;
    moved.set(source, target.path);
    arrived.add(target);
  }
  return changes.flatMap((change): JsonChange[] => {
    if (arrived.has(change)) return [];
    const to = moved.get(change);
    if (to === undefined || change.kind !== "removed") return [change];
    return [{ kind: "moved", path: change.path, to, value: change.before }];
  });
}

/** A value as text, with its fields on lines of their own. */
export function shownValue(value: unknown, depth = 0): string {
  if (value instanceof LargeNumber) return value.digits;
  if (!isBranch(value)) return JSON.stringify(value) ?? "";
  const indent = "  ".repeat(depth + 1);
  const fields = Array.isArray(value)
    ? value.map((item) => shownValue(item, depth + 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${shownValue(item, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (fields.length === 0) return `${open}${close}`;
  return `${open}\n${indent}${fields.join(`,\n${indent}`)}\n${"  ".repeat(depth)}${close}`;
}
