import { useState } from "preact/hooks";
import { change } from "../api/client.ts";
import type { CreatedKey, Key, Project, RotatedKey } from "../api/types.ts";
import { full } from "../format/time.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { GroupFields } from "./key-fields.tsx";
import { GROUP_NAMES, GROUPS, type Group, keyInput } from "./key-input.ts";
import { lastProject, rememberProject } from "./last-project.ts";
import { ShownOnce } from "./shown-once.tsx";
import { modelToTry } from "./try-model.ts";

interface Closing {
  onDone: () => void;
  onClose: () => void;
}

const FOLDED: readonly Group[] = ["access", "data", "routing", "parts"];

interface CreateProps extends Closing {
  projects: readonly Pick<Project, "id" | "name">[];
  /** The project that the list is filtered by. */
  project: string | undefined;
}

export function CreateKey({ projects, project, onDone, onClose }: CreateProps) {
  const [created, setCreated] = useState<{ secret: string; models: string[] } | undefined>(undefined);
  const { submit, error, busy } = useSending(
    async (form) => {
      const body = keyInput(form, GROUPS);
      const { key } = (await change<{ data: CreatedKey }>("POST", "/api/keys", body)).data;
      rememberProject(String(form.get("project") ?? ""));
      return { secret: key, models: (body["models"] as string[] | undefined) ?? ["*"] };
    },
    (answer) => {
      setCreated(answer);
      onDone();
    },
  );
  if (created) {
    const { secret, models } = created;
    return <ShownOnce secret={secret} title="Key created" model={modelToTry(models)} onClose={onClose} />;
  }
  const chosen = project ?? lastProject(projects.map(({ id }) => id));
  return (
    <Dialog title="Create key" onClose={onClose}>
      <form onSubmit={submit} class="key-form">
        <GroupFields group="general" item={undefined} />
        <label>
          Project
          <select name="project" defaultValue={chosen}>
            {projects.map(({ id, name }) => (
              <option key={id} value={id} selected={id === chosen}>
                {name === id ? id : `${name} (${id})`}
              </option>
            ))}
          </select>
        </label>
        <GroupFields group="limits" item={undefined} />
        {FOLDED.map((group) => (
          <details
            key={group}
            onInvalidCapture={(event) => {
              // The browser cannot show what is wrong with a field that is folded away.
              event.currentTarget.open = true;
            }}
          >
            <summary>{GROUP_NAMES[group]}</summary>
            <GroupFields group={group} item={undefined} />
          </details>
        ))}
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={busy}>
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Changes one group of settings; the others stay as they are. */
export function EditGroup({ item, group, onDone, onClose }: Closing & { item: Key; group: Group }) {
  const { submit, error, busy } = useSending(
    (form) => change("PATCH", `/api/keys/${encodeURIComponent(item.id)}`, keyInput(form, [group], item)),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title={`${GROUP_NAMES[group]}: ${item.name}`} onClose={onClose}>
      <form onSubmit={submit} class="key-form">
        <GroupFields group={group} item={item} />
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={busy}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function RotateKey({ item, onDone, onClose }: Closing & { item: Key }) {
  const [rotated, setRotated] = useState<RotatedKey | undefined>(undefined);
  const { submit, error, busy } = useSending(
    async (form) => {
      const overlap_seconds = Math.round(Number(form.get("hours") ?? 24) * 3_600);
      const address = `/api/keys/${encodeURIComponent(item.id)}/rotate`;
      return (await change<{ data: RotatedKey }>("POST", address, { overlap_seconds })).data;
    },
    (answer) => {
      setRotated(answer);
      onDone();
    },
  );
  if (rotated) {
    const note = `The old secret works until ${full(rotated.previous_until)}.`;
    const model = modelToTry(item.models);
    return (
      <ShownOnce
        secret={rotated.key}
        title={`New secret of ${item.name}`}
        note={note}
        model={model}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={`Rotate ${item.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>The key gets a new secret. Its limits, spend and history do not change.</p>
        <label>
          Hours until the old secret stops working (0: at once)
          <input name="hours" type="number" min="0" max="720" step="1" defaultValue="24" required />
        </label>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={busy}>
            Rotate
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function RevokeKey({ item, onDone, onClose }: Closing & { item: Key }) {
  const [typed, setTyped] = useState("");
  const { submit, error, busy } = useSending(
    () => change("DELETE", `/api/keys/${encodeURIComponent(item.id)}`),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title="Revoke key" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          Calls with <strong>{item.name}</strong>, and with any child keys it created, fail at once. This cannot be
          undone.
        </p>
        <label>
          Type the name of the key to confirm
          <input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger main" disabled={busy || typed.trim() !== item.name.trim()}>
            Revoke
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
