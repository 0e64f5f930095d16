import { useState } from "preact/hooks";
import { change, session } from "../api/client.ts";
import type { CreatedKey, Key, Project, RotatedKey } from "../api/types.ts";
import { full } from "../format/time.ts";
import { LIMIT_NAMES, LIMITS, patternLines, readLimits, readPatterns } from "../state/limits.ts";
import { CopyButton } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";

/** Submits a form and keeps the error, if any. */
export function useSending<Answer>(send: (form: FormData) => Promise<Answer>, done: (answer: Answer) => void) {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      done(await send(new FormData(event.currentTarget as HTMLFormElement)));
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      setBusy(false);
    }
  };
  return { submit, error, busy };
}

export const FormProblem = ({ error }: { error: string }) =>
  error === "" ? null : (
    <p class="problem" role="alert">
      {error}
    </p>
  );

interface Limited {
  limits?: Readonly<Record<string, number | null>>;
  legend?: string;
  /** Of the names of the fields. */
  prefix?: string;
}

export const LimitFields = ({ limits = {}, legend = "Limits (empty for no limit)", prefix = "" }: Limited) => (
  <fieldset class="fields">
    <legend>{legend}</legend>
    {LIMIT_NAMES.filter((name) => prefix === "" || name !== "sessions").map((name) => (
      <label key={name}>
        {LIMITS[name].name}
        <input name={prefix + name} type="number" min="0" step={LIMITS[name].step} defaultValue={limits[name] ?? ""} />
      </label>
    ))}
  </fieldset>
);

const USERS = "end_users.";

/** The limits of end users, models and tags. */
export const PartLimitFields = ({ item }: { item?: PartLimits | undefined }) => (
  <details>
    <summary>Limits by end user, model and tag</summary>
    <LimitFields
      limits={item?.end_users?.limits ?? {}}
      legend="For each end user (empty for no limit)"
      prefix={USERS}
    />
    <label class="check">
      <input name="end_users.required" type="checkbox" defaultChecked={item?.end_users?.required === true} />
      Reject requests that do not name their end user
    </label>
    <label>
      By model, one pattern per line
      <textarea
        name="limits_by_model"
        rows={2}
        placeholder="openai/gpt-*: requests_per_day=500 budget_usd_per_week=20"
        defaultValue={patternLines(item?.limits_by_model ?? {})}
      />
    </label>
    <label>
      By tag, one pattern per line
      <textarea
        name="limits_by_tag"
        rows={2}
        placeholder="team:*: budget_usd_per_month=100"
        defaultValue={patternLines(item?.limits_by_tag ?? {})}
      />
    </label>
  </details>
);

type PartLimits = Pick<Key, "end_users" | "limits_by_model" | "limits_by_tag">;

/** Fields that stay empty are left out of what creates a key or a project. */
export function partLimitsOf(form: FormData, item?: PartLimits): object {
  const limits = readLimits(form, item?.end_users?.limits ?? {}, USERS);
  const required = form.has("end_users.required");
  const isSet = item?.end_users != null || required || Object.keys(limits).length > 0;
  const byModel = readPatterns(String(form.get("limits_by_model") ?? ""), item?.limits_by_model);
  const byTag = readPatterns(String(form.get("limits_by_tag") ?? ""), item?.limits_by_tag);
  return {
    ...(isSet ? { end_users: { limits, required } } : {}),
    ...(Object.keys(byModel).length === 0 ? {} : { limits_by_model: byModel }),
    ...(Object.keys(byTag).length === 0 ? {} : { limits_by_tag: byTag }),
  };
}

const CaptureField = ({ isOn = false }: { isOn?: boolean }) => (
  <label class="check">
    <input name="capture" type="checkbox" defaultChecked={isOn} />
    Capture request and response bodies, so that operators can read them
  </label>
);

/** Only admins may set it. */
export const CacheFields = ({ cache }: { cache: Key["cache"] | undefined }) =>
  session.value?.role !== "admin" ? null : (
    <fieldset class="fields">
      <legend>Cache of responses (empty for none)</legend>
      <label>
        Seconds that a response is used
        <input name="cache_ttl" type="number" min="1" step="1" defaultValue={cache?.ttl_seconds ?? ""} />
      </label>
      <label>
        Space of the project in MB
        <input name="cache_mb" type="number" min="1" step="1" defaultValue={cache?.max_mb ?? ""} />
      </label>
    </fieldset>
  );

/** Empty if nobody may set it here, or if a new key or project has none. */
export function cacheOf(form: FormData, item?: Pick<Key, "cache">): object {
  const given = ["cache_ttl", "cache_mb"].map((name) => String(form.get(name) ?? ""));
  const isEmpty = given.every((text) => text === "");
  if (!form.has("cache_ttl") || (isEmpty && item?.cache == null)) return {};
  const [ttl_seconds, max_mb] = given.map((text) => (text === "" ? undefined : Number(text)));
  return { cache: isEmpty ? null : { ttl_seconds, max_mb } };
}

const UnpricedField = ({ policy }: { policy: "refuse" | "mark" | null | undefined }) => (
  <label>
    Usage without a known price
    <select name="unpriced" defaultValue={policy ?? ""}>
      <option value="">Default: refuse if a budget applies</option>
      <option value="refuse">Refuse</option>
      <option value="mark">Allow and mark the receipt</option>
    </select>
  </label>
);

const policyOf = (form: FormData): string | null => String(form.get("unpriced") ?? "") || null;

const list = (form: FormData, name: string): string[] =>
  String(form.get(name) ?? "")
    .split(/[\s,]+/)
    .filter((word) => word !== "");

function keyOf(form: FormData): object {
  const models = list(form, "models");
  const expires = String(form.get("expires_at") ?? "");
  return {
    name: String(form.get("name") ?? "").trim(),
    ...(form.has("project") ? { project: String(form.get("project")) } : {}),
    ...(models.length === 0 ? {} : { models }),
    tags: list(form, "tags"),
    ...(form.has("capture") ? { capture: true } : {}),
    ...(policyOf(form) === null ? {} : { billing: { unpriced: policyOf(form) } }),
    ...(expires === "" ? {} : { expires_at: new Date(expires).toISOString() }),
    limits: readLimits(form),
    ...partLimitsOf(form),
    ...cacheOf(form),
  };
}

export function CreateKey({
  projects,
  onDone,
  onClose,
}: {
  projects: readonly Project[];
  onDone: () => void;
  onClose: () => void;
}) {
  const [created, setCreated] = useState<CreatedKey | undefined>(undefined);
  const { submit, error, busy } = useSending(
    async (form) => (await change<{ data: CreatedKey }>("POST", "/api/keys", keyOf(form))).data,
    (answer) => {
      setCreated(answer);
      onDone();
    },
  );
  if (created) return <ShownOnce secret={created.key} title="Key created" onClose={onClose} />;
  return (
    <Dialog title="Create key" onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Name
          <input name="name" required maxLength={100} placeholder="checkout assistant" />
        </label>
        <label>
          Project
          <select name="project">
            {projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Models (empty for all)
          <input name="models" placeholder="anthropic/* openai/gpt-5*" />
        </label>
        <label>
          Tags for all its calls
          <input name="tags" placeholder="team-a feature=search" />
        </label>
        <label>
          Expires
          <input name="expires_at" type="datetime-local" />
        </label>
        <CaptureField />
        <UnpricedField policy={null} />
        <LimitFields />
        <PartLimitFields />
        <CacheFields cache={null} />
        <FormProblem error={error} />
        <footer>
          <button type="submit" class="main" disabled={busy}>
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function EditKey({ item, onDone, onClose }: { item: Key; onDone: () => void; onClose: () => void }) {
  const { submit, error, busy } = useSending(
    (form) =>
      change("PATCH", `/api/keys/${encodeURIComponent(item.id)}`, {
        name: String(form.get("name") ?? "").trim(),
        models: list(form, "models").length === 0 ? null : list(form, "models"),
        tags: list(form, "tags"),
        capture: form.has("capture"),
        billing: { unpriced: policyOf(form) },
        limits: readLimits(form, item.limits),
        ...partLimitsOf(form, item),
        ...cacheOf(form, item),
      }),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title={`Edit ${item.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Name
          <input name="name" required maxLength={100} defaultValue={item.name} />
        </label>
        <label>
          Models (empty for all)
          <input name="models" defaultValue={item.models.join(" ")} />
        </label>
        <label>
          Tags for all its calls
          <input name="tags" defaultValue={item.tags.join(" ")} />
        </label>
        <CaptureField isOn={item.capture} />
        <UnpricedField policy={item.billing.unpriced} />
        <LimitFields limits={item.limits} />
        <PartLimitFields item={item} />
        <CacheFields cache={item.cache} />
        <FormProblem error={error} />
        <footer>
          <button type="submit" class="main" disabled={busy}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function RotateKey({ item, onDone, onClose }: { item: Key; onDone: () => void; onClose: () => void }) {
  const [rotated, setRotated] = useState<RotatedKey | undefined>(undefined);
  const { submit, error, busy } = useSending(
    async (form) => {
      const overlap_seconds = Math.round(Number(form.get("hours") ?? 24) * 3_600);
      return (
        await change<{ data: RotatedKey }>("POST", `/api/keys/${encodeURIComponent(item.id)}/rotate`, {
          overlap_seconds,
        })
      ).data;
    },
    (answer) => {
      setRotated(answer);
      onDone();
    },
  );
  if (rotated) {
    const note = `The old secret stays valid until ${full(rotated.previous_until)}.`;
    return <ShownOnce secret={rotated.key} title="New secret" note={note} onClose={onClose} />;
  }
  return (
    <Dialog title={`Rotate ${item.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>The key gets a new secret. Its limits, spend and history do not change.</p>
        <label>
          Hours until the old secret expires (0 for immediately)
          <input name="hours" type="number" min="0" max="720" step="1" defaultValue="24" required />
        </label>
        <FormProblem error={error} />
        <footer>
          <button type="submit" class="main" disabled={busy}>
            Rotate
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function RevokeKey({ item, onDone, onClose }: { item: Key; onDone: () => void; onClose: () => void }) {
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
          Calls with <strong>{item.name}</strong>, and with any child keys it created, will fail immediately. This
          cannot be undone.
        </p>
        <label>
          Type the name of the key to confirm
          <input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <FormProblem error={error} />
        <footer>
          <button type="submit" class="danger main" disabled={busy || typed !== item.name}>
            Revoke
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const ShownOnce = ({
  secret,
  title,
  note,
  onClose,
}: {
  secret: string;
  title: string;
  note?: string;
  onClose: () => void;
}) => (
  <Dialog title={title} onClose={onClose} mustAnswer>
    <p>Copy the secret now: it will not be shown again. The gateway stores only a hash of it.</p>
    <div class="secret">
      <code>{secret}</code>
      <CopyButton text={secret} />
    </div>
    {note && <p class="muted">{note}</p>}
    <footer>
      <button type="button" class="main" onClick={onClose}>
        I have saved it
      </button>
    </footer>
  </Dialog>
);
