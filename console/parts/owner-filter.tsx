import { namedValue } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";
import { Icon } from "./icon.tsx";

const NAMES = ["project", "key", "id"] as const;

/** The filters of the address, without those that are not set. */
export const ownerFilter = (): Partial<Record<(typeof NAMES)[number], string>> =>
  Object.fromEntries(
    NAMES.flatMap((name) => (place.value.query.get(name) ? [[name, place.value.query.get(name)]] : [])),
  );

/** Filters that are set by links in a list, each with a button that removes it. */
export const OwnerFilter = () => {
  const filters = Object.entries(ownerFilter());
  if (filters.length === 0) return null;
  return (
    <ul class="chips" aria-label="Filters">
      {filters.map(([name, value]) => (
        <li key={name}>
          <button
            type="button"
            class="chip"
            aria-label={`Remove filter ${name} ${value}`}
            onClick={() => setQuery({ [name]: undefined, after: undefined })}
          >
            <span class="muted">{name}</span> {namedValue(name, value)}
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
};
