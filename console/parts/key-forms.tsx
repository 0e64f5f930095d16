import { useState } from "preact/hooks";
import type { Key } from "../api/types.ts";
import { LIMIT_NAMES, LIMITS, patternLines, readLimits, readPatterns } from "../state/limits.ts";

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
export const PartLimitFields = ({ item, isOpen = false }: { item?: PartLimits | undefined; isOpen?: boolean }) =>
  isOpen ? (
    <PartFields item={item} />
  ) : (
    <details>
      <summary>Limits by end user, model and tag</summary>
      <PartFields item={item} />
    </details>
  );

const PartFields = ({ item }: { item?: PartLimits | undefined }) => (
  <>
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
  </>
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
