import { useState } from "preact/hooks";
import { dated } from "../format/time.ts";
import { type CalendarName, RANGE_NAMES, type Range, type RangeName, rangeWords } from "../state/range.ts";
import { place, setQuery } from "../state/router.ts";
import { readZone, wallClock, ZONES, zoned } from "../state/zone.ts";
import { Choice } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";

/** `now` stays open-ended, so that the page goes on updating itself. */
function CustomRange({ range, onClose }: { range: Range; onClose: () => void }) {
  const zone = readZone(place.value.query);
  const [problem, setProblem] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const chosen = String(form.get("zone") ?? zone);
    const from = zoned(String(form.get("from") ?? ""), chosen);
    const until = String(form.get("to") ?? "");
    const to = until === "" ? undefined : zoned(until, chosen);
    if (from === undefined) return setProblem("Enter when the range begins.");
    if (to !== undefined && to <= from) return setProblem("The range must end after it begins.");
    onClose();
    setQuery({
      range: undefined,
      from: new Date(from).toISOString(),
      to: to === undefined ? undefined : new Date(to).toISOString(),
      zone: chosen,
      after: undefined,
      live: undefined,
    });
  };
  return (
    <Dialog title="Range" onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          From
          <input type="datetime-local" name="from" step="1" required defaultValue={wallClock(range.fromMs, zone)} />
        </label>
        <label>
          To (empty: now)
          <input
            type="datetime-local"
            name="to"
            step="1"
            defaultValue={range.toMs === undefined ? "" : wallClock(range.toMs, zone)}
          />
        </label>
        <label>
          Time zone
          <input name="zone" list="zones" defaultValue={zone} />
        </label>
        <datalist id="zones">
          {ZONES().map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {problem !== "" && <p role="alert">{problem}</p>}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main">
            Show
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The ranges of pages whose figures are by day. */
export const RANGES_OF_DAYS = ["24h", "7d", "30d", "yesterday", "month"] as const;

interface RangeChoiceProps {
  range: Range;
  names?: readonly (RangeName | CalendarName)[];
}

/** The time that a page is about: a preset or two moments. The address has it. */
export function RangeChoice({ range, names = RANGE_NAMES }: RangeChoiceProps) {
  const [isOpen, setOpen] = useState(false);
  const chosen = range.name ?? range.calendar;
  const isCustom = chosen === undefined;
  // A link from another page may have one of its ranges.
  const offered = isCustom || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <>
      <Choice
        label="Range"
        value={chosen}
        options={offered.map((name) => ({ value: name, name: rangeWords(name) }))}
        onChange={(name) => setQuery({ range: name, from: undefined, to: undefined, after: undefined })}
      />
      <button type="button" aria-pressed={isCustom} onClick={() => setOpen(true)}>
        {isCustom ? `${dated(range.fromMs)} – ${range.toMs === undefined ? "now" : dated(range.toMs)}` : "Custom"}
      </button>
      {isOpen && <CustomRange range={range} onClose={() => setOpen(false)} />}
    </>
  );
}
