import { useState } from "preact/hooks";
import { ask, change } from "../api/client.ts";
import type { CheckedProvider, ConfigShown, ProviderForms } from "../api/types.ts";
import { Code, Problem, State, Waiting, words } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";
import { FormProblem, useSending } from "./key-forms.tsx";
import { useData } from "./use-data.ts";

type Field = ProviderForms[number]["fields"][number];

/** Turns `base_url` into "Base URL". */
function labelOf({ name, secret, required }: Field): string {
  const text = words(name).replaceAll(/\b(?:api|url|id)\b/g, (short) => short.toUpperCase());
  const label = text.charAt(0).toUpperCase() + text.slice(1);
  return `${label}${secret ? " reference" : ""}${required ? "" : " (optional)"}`;
}

/** The browser never sends a key itself; the gateway would reject it anyway. */
const REFERENCE = String.raw`\$\{(?:[A-Za-z_]\w*|file:[^\{\}]+)\}`;

const FieldInput = ({ field }: { field: Field }) => {
  const { name, secret, required, variable } = field;
  const reference = `\${${variable ?? "MY_KEY"}}`;
  return (
    <label>
      {labelOf(field)}
      <input
        name={`field.${name}`}
        required={required}
        maxLength={2_000}
        spellcheck={false}
        autocomplete="off"
        {...(secret ? { pattern: REFERENCE, title: `Enter a reference such as ${reference}, not the secret` } : {})}
        {...(secret && required ? { defaultValue: reference } : {})}
        placeholder={secret ? `${reference} or \${file:/run/secrets/key}` : name === "base_url" ? "https://…" : ""}
      />
    </label>
  );
};

function draftOf(form: FormData, kind: string): object {
  const entries = [...form.entries()].flatMap(([name, value]) => {
    const text = String(value).trim();
    return name.startsWith("field.") && text !== "" ? [[name.slice("field.".length), text]] : [];
  });
  return { name: String(form.get("name") ?? "").trim(), kind, fields: Object.fromEntries(entries) };
}

const Checked = ({ checked, file }: { checked: CheckedProvider; file: string }) => {
  const { ok, problems, credential, from_environment, yaml } = checked;
  return (
    <div role="status" class="checked">
      <p>
        <State kind={ok ? "good" : "bad"}>{ok ? "valid" : "invalid"}</State>{" "}
        {credential !== null && (
          <>
            <State kind={credential.state === "ok" ? "good" : credential.state === "unchecked" ? "idle" : "bad"}>
              {words(credential.state)}
            </State>{" "}
            <code>{credential.host}</code> <span class="muted">{credential.detail}</span>
          </>
        )}
      </p>
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {ok && (
        <>
          <p>
            Add these lines to <code>{file}</code>. If the file already has a <code>providers</code> section, omit the
            first line. Changes apply without a restart.
          </p>
          {from_environment.length > 0 && (
            <p>
              {from_environment.join(", ")} {from_environment.length === 1 ? "is" : "are"} currently configured by
              environment variables. Once the file has a <code>providers</code> section, only the providers listed there
              are used.
            </p>
          )}
          <Code text={yaml} />
          {credential === null && (
            <p class="muted">
              The key was not checked. This form sends keys only to the vendor's own address, never to a custom base
              URL. After you add the provider to the file, use <em>Test</em>.
            </p>
          )}
        </>
      )}
    </div>
  );
};

function Form({ forms, file }: { forms: ProviderForms; file: string }) {
  const [kind, setKind] = useState(forms[0]?.kind ?? "");
  const [checked, setChecked] = useState<CheckedProvider | undefined>(undefined);
  const { submit, error, busy } = useSending(
    async (form) => (await change<{ data: CheckedProvider }>("POST", "/api/providers/check", draftOf(form, kind))).data,
    setChecked,
  );
  const fields = forms.find((form) => form.kind === kind)?.fields ?? [];
  return (
    <form
      onSubmit={(event) => {
        setChecked(undefined);
        return submit(event);
      }}
    >
      <p class="muted">
        Providers are defined in <code>{file}</code>. This form checks an entry and generates its YAML; it saves
        nothing. Do not enter a key here: set it as an environment variable of the gateway, or store it in a file that
        the gateway can read.
      </p>
      <label>
        Kind
        <select
          value={kind}
          onChange={(event) => {
            setKind(event.currentTarget.value);
            setChecked(undefined);
          }}
        >
          {forms.map((form) => (
            <option key={form.kind} value={form.kind}>
              {form.kind}
            </option>
          ))}
        </select>
      </label>
      <label>
        Name
        <input
          key={kind}
          name="name"
          required
          maxLength={64}
          defaultValue={kind}
          spellcheck={false}
          autocomplete="off"
        />
      </label>
      {fields.map((field) => (
        <FieldInput key={`${kind} ${field.name}`} field={field} />
      ))}
      <FormProblem error={error} />
      {checked && <Checked checked={checked} file={file} />}
      <footer>
        <button type="submit" class="main" disabled={busy}>
          {busy ? "Checking…" : "Check"}
        </button>
      </footer>
    </form>
  );
}

/** Checks a provider and shows the configuration that adds it. The console cannot add one itself. */
export function AddProvider({ onClose }: { onClose: () => void }) {
  const { data, error, reload } = useData("kinds", async (abort) => {
    const [forms, config] = await Promise.all([
      ask<{ data: ProviderForms }>("/api/providers/kinds", {}, abort),
      ask<{ data: ConfigShown }>("/api/config", {}, abort),
    ]);
    return { forms: forms.data, file: config.data.file ?? "trivium.yaml" };
  });
  return (
    <Dialog title="Add provider" onClose={onClose}>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? !error && <Waiting rows={4} /> : <Form forms={data.forms} file={data.file} />}
    </Dialog>
  );
}
