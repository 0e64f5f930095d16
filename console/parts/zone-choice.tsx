import { setQuery } from "../state/router.ts";
import { ownZone, ZONES } from "../state/zone.ts";

/** The zone whose days the page counts. It applies to all figures of the page. */
export const ZoneChoice = ({ zone }: { zone: string }) => (
  <select
    class="zone"
    aria-label="Time zone"
    value={zone}
    onChange={(event) => setQuery({ zone: event.currentTarget.value, after: undefined })}
  >
    {[...new Set([zone, ownZone(), ...ZONES()])].map((name) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))}
  </select>
);
