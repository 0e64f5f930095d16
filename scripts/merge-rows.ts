/** A field and what it becomes at each target. */
export interface MappingRow {
  schemaPath: string;
  cells: readonly string[];
}

interface MergedRow {
  fields: readonly string[];
  cells: readonly string[];
}

/** A step on the way to fields, with the dot before it; the last one has cells, and no steps behind it. */
interface Branch {
  step: string;
  cells?: readonly string[];
  children: Branch[];
}

/** Adjacent rows with the same cells are merged into one: `a.{b, c}`, or `a.*` for all of `a`. */
export function mergeRows(rows: readonly MappingRow[]): MergedRow[] {
  const root: Branch = { step: "", children: [] };
  for (const { schemaPath, cells } of rows) {
    let branch = root;
    for (const step of schemaPath.split(/(?=\.)/)) branch = childOf(branch, step);
    branch.children.push({ step: "", cells, children: [] });
  }
  return merged(root, "");
}

function childOf(branch: Branch, step: string): Branch {
  const found = branch.children.find((child) => child.step === step);
  if (found !== undefined) return found;
  const made: Branch = { step, children: [] };
  branch.children.push(made);
  return made;
}

function merged(branch: Branch, prefix: string): MergedRow[] {
  const groups = new Map<string, { labels: string[]; cells: readonly string[] }>();
  const inOrder: (() => MergedRow[])[] = [];
  for (const child of branch.children) {
    const cells = uniformCells(child);
    if (cells === undefined) {
      inOrder.push(() => merged(child, prefix + child.step));
      continue;
    }
    const key = cells.join("\n");
    const group = groups.get(key);
    if (group !== undefined) group.labels.push(labelOf(child));
    else {
      const labels = [labelOf(child)];
      groups.set(key, { labels, cells });
      inOrder.push(() => [{ fields: fieldsOf(prefix, labels), cells }]);
    }
  }
  return inOrder.flatMap((rows) => rows());
}

/** `.a.*` for a branch of many fields, the whole path for a branch of one. */
function labelOf({ step, children }: Branch): string {
  const [only, second] = children;
  if (only === undefined) return step;
  return second === undefined ? step + labelOf(only) : `${step}.*`;
}

function fieldsOf(prefix: string, labels: readonly string[]): string[] {
  if (prefix === "") return [...labels];
  const [first = ""] = labels;
  if (labels.length === 1) return [prefix + first];
  const own = labels.includes("") ? [prefix] : [];
  const inner = labels.filter((label) => label !== "").map((label) => label.slice(1));
  return [...own, inner.length === 1 ? `${prefix}.${inner[0]}` : `${prefix}.{${inner.join(", ")}}`];
}

/** The common outcome of all fields of a branch. */
function uniformCells({ cells, children }: Branch): readonly string[] | undefined {
  if (cells !== undefined) return cells;
  const [first, ...others] = children.map(uniformCells);
  if (first === undefined) return undefined;
  return others.every((other) => other?.join("\n") === first.join("\n")) ? first : undefined;
}
