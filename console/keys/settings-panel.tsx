import type { Key } from "../api/types.ts";
import { GROUP_NAMES, GROUPS, type Group } from "./key-input.ts";
import { type Heritage, settingsOf } from "./key-settings.ts";

interface Props {
  item: Key;
  heritage: Heritage;
  /** Absent if this reader may not change it, or it cannot be changed here. */
  onEdit: ((group: Group) => void) | undefined;
}

/** Every setting that applies, and where it comes from. Each group is changed by itself. */
export const SettingsPanel = ({ item, heritage, onEdit }: Props) => (
  <section class="group" aria-label="Settings">
    <h2>Settings</h2>
    <div class="settings">
      {GROUPS.map((group) => (
        <section key={group} class="panel">
          <header>
            <h3>{GROUP_NAMES[group]}</h3>
            {onEdit !== undefined && (
              <button
                type="button"
                class="quiet"
                aria-label={`Edit ${GROUP_NAMES[group].toLowerCase()}`}
                onClick={() => onEdit(group)}
              >
                Edit
              </button>
            )}
          </header>
          <dl>
            {settingsOf(group, item, heritage).map(({ name, value, source, isOwn }) => (
              <div key={`${name} ${source}`} class={isOwn ? "own" : undefined}>
                <dt>{name}</dt>
                <dd>
                  <span>{value}</span>
                  <span class="source">{source}</span>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  </section>
);
