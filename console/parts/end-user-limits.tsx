import { useState } from "preact/hooks";
import { ask, change } from "../api/client.ts";
import type { EndUser, Key, Page, Project } from "../api/types.ts";
import { limitsAt, type Owner, ownersOf, switchOf } from "../state/end-users.ts";
import { readLimits } from "../state/limits.ts";
import { nameOfKey } from "../state/names.ts";
import { Dialog } from "./dialog.tsx";
import { FormProblem, LimitFields, useSending } from "./key-forms.tsx";
import { useData } from "./use-data.ts";

export const CAP_USD = 5;

/** The name of a key, a project or the gateway. */
export const nameOfOwner = ({ project, key }: { project: string | null; key?: string | null }): string =>
  key ? `key ${nameOfKey(key)}` : project === null ? "gateway" : `project ${project}`;

interface EndUserLimitsProps {
  item: EndUser;
  /** Only a daily budget, which is filled in; otherwise all limits. */
  isCap: boolean;
  onDone: () => void;
  onClose: () => void;
}

const useSwitches = () =>
  useData("switches", async (abort) => {
    const [keys, projects] = await Promise.all([
      ask<Page<Key>>("/api/keys", { limit: 500 }, abort),
      ask<Page<Project>>("/api/projects", { limit: 500 }, abort),
    ]);
    return { keys: keys.data, projects: projects.data };
  });

/** Sets the limits of one end user, and switches limits of end users on where they are off, because these would not apply. */
export function EndUserLimits({ item, isCap, onDone, onClose }: EndUserLimitsProps) {
  const owners = ownersOf(item);
  const [at, setAt] = useState(0);
  const owner: Owner = owners[at] ?? { project: "default" };
  const own = limitsAt(item, owner);
  const switches = useSwitches().data;
  const found = switches && switchOf(owner, switches.keys, switches.projects);
  const { submit, error, busy } = useSending(
    async (form) => {
      const address = `/api/end_users/${encodeURIComponent(item.id)}`;
      const cap = { ...own, budget_usd_per_day: Number(form.get("budget_usd_per_day")) };
      const set = Object.entries(isCap ? cap : readLimits(form)).filter(([, value]) => isCap || value !== null);
      if (set.length === 0)
        return Object.keys(own).length === 0
          ? undefined
          : change("DELETE", `${address}?${new URLSearchParams({ ...owner })}`);
      if (found?.isOn === false && form.has("switch"))
        await change("PATCH", found.address, { end_users: { limits: {}, required: false } });
      return change("PUT", address, { ...owner, limits: Object.fromEntries(set) });
    },
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title={isCap ? `Cap ${item.id}` : `Limits of ${item.id}`} onClose={onClose}>
      <form onSubmit={submit}>
        {isCap && (
          <label>
            Daily budget (USD)
            <input
              name="budget_usd_per_day"
              type="number"
              min="0"
              step="0.01"
              required
              defaultValue={own["budget_usd_per_day"] ?? CAP_USD}
            />
          </label>
        )}
        <label>
          Applies to its calls with
          <select onChange={(event) => setAt(Number(event.currentTarget.value))}>
            {owners.map((one, index) => (
              <option key={nameOfOwner(one)} value={index}>
                {nameOfOwner(one)}
              </option>
            ))}
          </select>
        </label>
        {!isCap && (
          <LimitFields
            key={at}
            limits={own}
            legend="Replaces the default limits of end users (leave empty to keep them)"
          />
        )}
        {found?.isOn === false &&
          (found.isInFile ? (
            <p class="hint">
              Limits of end users are off for the {nameOfOwner(owner)}, so this one would not apply. Set{" "}
              <code>end_users</code> of it in the configuration file.
            </p>
          ) : (
            <label class="check">
              <input name="switch" type="checkbox" defaultChecked />
              Turn limits of end users on for the {nameOfOwner(owner)}, without a limit for all. Otherwise this one does
              not apply.
            </label>
          ))}
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={busy || found === undefined}>
            {isCap ? "Set cap" : "Save"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
