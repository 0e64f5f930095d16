import { COLUMNS, hidden, showAllColumns, showColumn } from "../state/columns.ts";
import { COLUMN_TITLES } from "./call-columns.tsx";

/** Chooses the columns of the call list. The browser stores the choice. */
export function ColumnChoice() {
  const left = hidden.value.size;
  return (
    <>
      <button type="button" popovertarget="columns">
        Columns
      </button>
      <fieldset id="columns" popover="auto" class="columns">
        <legend>Columns</legend>
        {COLUMNS.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={!hidden.value.has(name)}
              onChange={(event) => showColumn(name, event.currentTarget.checked)}
            />
            {COLUMN_TITLES[name]}
          </label>
        ))}
        <button type="button" class="quiet" disabled={left === 0} onClick={showAllColumns}>
          Show all
        </button>
      </fieldset>
    </>
  );
}
