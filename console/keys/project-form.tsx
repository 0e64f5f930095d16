import { change } from "../api/client.ts";
import type { Project } from "../api/types.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, LimitFields, PartLimitFields, partLimitsOf, useSending } from "../parts/key-forms.tsx";
import { readLimits } from "../state/limits.ts";
import { CacheFields, cacheOf } from "./cache-fields.tsx";

interface Props {
  /** Absent: a new project. */
  item: Project | undefined;
  onDone: () => void;
  onClose: () => void;
}

const text = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();

function projectInput(form: FormData, item: Project | undefined): object {
  const name = text(form, "name");
  const [megabytes, unpriced] = [text(form, "project_mb"), text(form, "unpriced")];
  const common = {
    limits: readLimits(form, item?.limits),
    ...partLimitsOf(form, item),
    ...(form.has("provider_objects") === (item?.provider_objects ?? false)
      ? {}
      : { provider_objects: form.has("provider_objects") }),
    ...(text(form, "objects") === (item?.objects ?? "project") ? {} : { objects: text(form, "objects") }),
    ...(unpriced === "" && item === undefined ? {} : { billing: { unpriced: unpriced || null } }),
    ...cacheOf(form, item),
  };
  if (item === undefined) {
    const size = megabytes === "" ? {} : { project_mb: Number(megabytes) };
    return { id: text(form, "id"), ...(name === "" ? {} : { name }), ...common, ...size };
  }
  const status = form.has("suspended") ? "suspended" : "active";
  return { name, ...common, status, project_mb: megabytes === "" ? null : Number(megabytes) };
}

const Rare = ({ item }: { item: Project | undefined }) => (
  <details>
    <summary>Data, storage and billing</summary>
    <label>
      Storage for files and batches in MB (empty: as the gateway says)
      <input name="project_mb" type="number" min="0" step="any" defaultValue={item?.project_mb ?? ""} />
    </label>
    <label>
      Who may see what its keys store
      <select name="objects">
        {(["project", "private"] as const).map((value) => (
          <option key={value} value={value} selected={value === (item?.objects ?? "project")}>
            {value === "project" ? "All its keys" : "Only the key that stored it"}
          </option>
        ))}
      </select>
    </label>
    <label>
      Usage without a known price
      <select name="unpriced">
        {(["", "refuse", "mark"] as const).map((value) => (
          <option key={value} value={value} selected={value === (item?.billing.unpriced ?? "")}>
            {{ "": "As the gateway says", refuse: "Refuse", mark: "Allow and mark the receipt" }[value]}
          </option>
        ))}
      </select>
    </label>
    <label class="check">
      <input type="checkbox" name="provider_objects" defaultChecked={item?.provider_objects === true} />
      <span>Requests may name objects in providers' accounts, also those of other projects</span>
    </label>
    <CacheFields cache={item?.cache} />
  </details>
);

/** Creates or changes a project. */
export function ProjectForm({ item, onDone, onClose }: Props) {
  const { submit, error, busy } = useSending(
    (form) =>
      item === undefined
        ? change("POST", "/api/projects", projectInput(form, item))
        : change("PATCH", `/api/projects/${encodeURIComponent(item.id)}`, projectInput(form, item)),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title={item === undefined ? "Create project" : `Edit ${item.name}`} onClose={onClose}>
      <form onSubmit={submit} class="key-form">
        {item === undefined && (
          <label>
            ID (cannot be changed later)
            <input name="id" required maxLength={100} placeholder="team-a" autocomplete="off" />
          </label>
        )}
        <label>
          Name
          <input
            name="name"
            maxLength={100}
            required={item !== undefined}
            defaultValue={item?.name ?? ""}
            autocomplete="off"
          />
        </label>
        {item !== undefined && (
          <label class="check">
            <input type="checkbox" name="suspended" defaultChecked={item.status === "suspended"} />
            <span>Suspended (rejects calls from all its keys)</span>
          </label>
        )}
        <LimitFields limits={item?.limits ?? {}} legend="Limits of all its keys together (empty: none)" />
        <PartLimitFields item={item} />
        <Rare item={item} />
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={busy}>
            {item === undefined ? "Create" : "Save"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
