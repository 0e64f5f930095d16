import type { ComponentChildren } from "preact";

interface TileProps {
  label: string;
  value: string;
  /** Where the calls of this figure are; undefined if the reader may not see them. */
  address: string | undefined;
  /** The change against the period before. */
  change?: ComponentChildren;
  note?: ComponentChildren;
}

/** One of the main figures of a page. All of it leads to what it counts. */
export const Tile = ({ label, value, address, change, note }: TileProps) => (
  <div class="tile">
    <dt>{label}</dt>
    <dd>
      <p>
        {address === undefined ? (
          <strong>{value}</strong>
        ) : (
          <a href={address} aria-label={`${label}: ${value}`}>
            {value}
          </a>
        )}
      </p>
      {change !== undefined && <span class="muted">{change}</span>}
      <span class="muted">{note}</span>
    </dd>
  </div>
);
