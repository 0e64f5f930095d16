import { useMemo, useState } from "preact/hooks";
import type { CapturedBody } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { type DiffLine, diffOf, nearChanges } from "../state/diff.ts";
import { type JsonChange, type JsonDiff, jsonDiff, readJson, shownValue } from "../state/json-diff.ts";
import { layOut } from "../state/lay-out.ts";

/** What differs between both sides: by path for JSON, by line for everything else. */
export function BodyDiff({ before, after }: { before: CapturedBody | null; after: CapturedBody | null }) {
  const found = useMemo(() => compare(before, after), [before, after]);
  if (found === undefined) return <p class="muted">Only one side was captured.</p>;
  return "lines" in found ? <Lines lines={found.lines} /> : <Paths diff={found} />;
}

function compare(
  before: CapturedBody | null,
  after: CapturedBody | null,
): JsonDiff | { lines: readonly DiffLine[] } | undefined {
  if (before === null || after === null) return undefined;
  try {
    const [one, two] = [readJson(before.text), readJson(after.text)];
    if (one !== undefined && two !== undefined) return jsonDiff(one, two);
  } catch {
    // Nested too deeply.
  }
  return { lines: diffOf(layOut(before.text), layOut(after.text)) };
}

const LABELS = { added: "Added", removed: "Removed", changed: "Changed", moved: "Moved" } as const;
const SHAPES = { added: "+", removed: "−", changed: "≠", moved: "→" } as const;

function Paths({ diff: { changes, equal } }: { diff: JsonDiff }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="paths">
      {changes.length === 0 ? (
        <p class="muted">Both sides have the same values. Their order and spacing may differ.</p>
      ) : (
        <ul aria-label="Differences">
          {changes.map((change) => (
            <li key={`${change.kind} ${change.path}`} class={change.kind}>
              <span class="what">
                <b aria-hidden="true">{SHAPES[change.kind]}</b> {LABELS[change.kind]}
              </span>
              <code class="path">
                {change.path === "" ? "(everything)" : change.path}
                {change.kind === "moved" && ` → ${change.to}`}
              </code>
              <Values change={change} />
            </li>
          ))}
        </ul>
      )}
      {equal.length > 0 && (
        <>
          <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide" : "Show"} {counted(equal.length, "equal part")}
          </button>
          {isOpen && (
            <ul aria-label="Equal parts">
              {equal.map(({ path, value }) => (
                <li key={path} class="same">
                  <span class="what">
                    <b aria-hidden="true">=</b> Equal
                  </span>
                  <code class="path">{path === "" ? "(everything)" : path}</code>
                  <pre>{shownValue(value)}</pre>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  );
}

function Values({ change }: { change: JsonChange }) {
  if (change.kind === "moved") return <pre>{shownValue(change.value)}</pre>;
  return (
    <>
      {"before" in change && (
        <pre class="removed">
          <span class="unseen">Before: </span>
          {shownValue(change.before)}
        </pre>
      )}
      {"after" in change && (
        <pre class="added">
          <span class="unseen">After: </span>
          {shownValue(change.after)}
        </pre>
      )}
    </>
  );
}

const SIGNS = { same: " ", removed: "−", added: "+" } as const;

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  if (lines.every(({ kind }) => kind === "same")) return <p class="muted">No differences.</p>;
  return (
    <div class="code">
      <pre tabIndex={0} class="diff">
        {nearChanges(lines).map((line, index) =>
          line.kind === "skipped" ? (
            <span key={index} class="muted">
              {`  … ${counted(line.count, "unchanged line")}\n`}
            </span>
          ) : (
            <span key={index} class={line.kind}>
              {`${SIGNS[line.kind]} ${line.text}\n`}
            </span>
          ),
        )}
      </pre>
    </div>
  );
}
