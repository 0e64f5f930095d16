/** A line of one side or of both. */
export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
}

/** If the product of the line counts exceeds this, the whole middle is shown as replaced. */
const MAX_CELLS = 4_000_000;

/** A line diff with the fewest changes. */
export function diffOf(before: string, after: string): DiffLine[] {
  const [one, two] = [before.split("\n"), after.split("\n")];
  const most = Math.min(one.length, two.length);
  let head = 0;
  while (head < most && one[head] === two[head]) head++;
  let tail = 0;
  while (tail < most - head && one[one.length - 1 - tail] === two[two.length - 1 - tail]) tail++;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(one.slice(0, head)),
    ...middle(one.slice(head, one.length - tail), two.slice(head, two.length - tail)),
    ...same(one.slice(one.length - tail)),
  ];
}

function middle(one: readonly string[], two: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: "removed", text });
  const added = (text: string): DiffLine => ({ kind: "added", text });
  if (one.length * two.length > MAX_CELLS) return [...one.map(removed), ...two.map(added)];
  const width = two.length + 1;
  /** The length of the longest common subsequence from here on. */
  const common = new Uint32Array((one.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = one.length - 1; row >= 0; row--) {
    for (let column = two.length - 1; column >= 0; column--) {
      common[row * width + column] =
        one[row] === two[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < one.length || column < two.length) {
    const [left, right] = [one[row], two[column]];
    if (left !== undefined && left === right) {
      lines.push({ kind: "same", text: left });
      row++;
      column++;
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(left));
      row++;
    } else {
      lines.push(added(right ?? ""));
      column++;
    }
  }
  return lines;
}

/** Unchanged lines far from any change. */
export interface SkippedLines {
  kind: "skipped";
  count: number;
}

const NEAR = 3;

/** Collapses lines that are far from any change. */
export function nearChanges(lines: readonly DiffLine[]): (DiffLine | SkippedLines)[] {
  const isNear = new Uint8Array(lines.length);
  for (const [index, { kind }] of lines.entries()) {
    if (kind !== "same") isNear.fill(1, Math.max(0, index - NEAR), index + NEAR + 1);
  }
  const shown: (DiffLine | SkippedLines)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isNear[index] === 1) shown.push(line);
    else if (last?.kind === "skipped") last.count++;
    else shown.push({ kind: "skipped", count: 1 });
  }
  return shown;
}
