import { useState } from "preact/hooks";
import { ask, change } from "../api/client.ts";
import type { CheckedProvider, ConfigShown, ProviderForms } from "../api/types.ts";
import { Code, Problem, State, Waiting, words } from "./basics.tsx";
import { Dialog } from "./dialog.tsx";
import { FormProblem, useSending } from "./key-forms.tsx";
import { useData } from "./use-data.ts";

type Field = ProviderForms[number]["fields"][number];

/** `base_url` as people read it: Base URL. */
function labelOf({ name, secret, required }: Field): string {
  const text = words(name).replaceAll(/\b(?:api|url|id)\b/g, (short) => short.toUpperCase());
  const label = text.charAt(0).toUpperCase() + text.slice(1);
  return `${label}${secret ? ", by where the gateway finds it" : ""}${required ? "" : " (may be empty)"}`;
}

/** A key itself is not even sent; the gateway would refuse it. */
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
        {...(secret ? { pattern: REFERENCE, title: `Where the gateway finds it, such as ${reference}` } : {})}
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
        <State kind={ok ? "good" : "bad"}>{ok ? "can be read" : "cannot be read"}</State>{" "}
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
            Put these lines into <code>{file}</code>; where it has a section <code>providers</code>, those below its
            first line. It is read again when it changes.
          </p>
          {from_environment.length > 0 && (
            <p>
              {from_environment.join(", ")} {from_environment.length === 1 ? "comes" : "come"} from the environment so
              far. With a section, there are those alone that it names.
            </p>
          )}
          <Code text={yaml} />
          {credential === null && (
            <p class="muted">
              Its key was not tried: that is done here at the address of its vendor alone, so that no secret goes where
              the file does not say. When it is in the file, use <em>Test</em>.
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
        Providers are declared in <code>{file}</code>. This checks one and writes its lines; nothing is saved, and a key
        itself is not taken: set it as a variable of the gateway, or put it into a file that it can read.
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

/** Shows how a provider is declared, and whether it would work. Providers are in the configuration alone. */
export function AddProvider({ onClose }: { onClose: () => void }) {
  const { data, error, reload } = useData("kinds", async (abort) => {
    const [forms, config] = await Promise.all([
      ask<{ data: ProviderForms }>("/api/providers/kinds", {}, abort),
      ask<{ data: ConfigShown }>("/api/config", {}, abort),
    ]);
    return { forms: forms.data, file: config.data.file ?? "trivium.yaml" };
  });
  return (
    <Dialog title="Add a provider" onClose={onClose}>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? !error && <Waiting rows={4} /> : <Form forms={data.forms} file={data.file} />}
    </Dialog>
  );
}
