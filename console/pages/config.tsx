import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ConfigChecked, ConfigShown } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { yamlOf } from "../format/yaml.ts";
import { Choice, Code, Empty, PageHead, State } from "../parts/basics.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useData } from "../parts/use-data.ts";
import { place, setQuery } from "../state/router.ts";

type Problems = ConfigShown["warnings"];

const ProblemList = ({ problems }: { problems: Problems }) => (
  <ul class="problems">
    {problems.map(({ file, line, column, message }) => (
      <li key={`${file}${line}${column}${message}`}>
        <code>
          {file}:{line}:{column}
        </code>{" "}
        {message}
      </li>
    ))}
  </ul>
);

function Check() {
  const [checked, setChecked] = useState<ConfigChecked | undefined>(undefined);
  const { submit, error, busy } = useSending(
    async (form) =>
      (await change<{ data: ConfigChecked }>("POST", "/api/config/check", { yaml: String(form.get("yaml") ?? "") }))
        .data,
    setChecked,
  );
  return (
    <section class="panel">
      <h2>Check a configuration</h2>
      <form onSubmit={submit} class="padded">
        <label>
          Contents of <code>trivium.yaml</code>. Nothing is saved or applied.
          <textarea name="yaml" class="mono" rows={8} required spellcheck={false} />
        </label>
        <FormProblem error={error} />
        <button type="submit" disabled={busy}>
          Check
        </button>
        {checked && (
          <div role="status">
            <p>
              <State kind={checked.ok ? "good" : "bad"}>
                {checked.ok ? "valid" : counted(checked.problems.length, "problem")}
              </State>{" "}
              {checked.ok && `${checked.models ?? 0} models, providers: ${checked.providers?.join(", ") || "none"}`}
            </p>
            <ProblemList problems={[...checked.problems, ...checked.warnings]} />
            {checked.restart_needed !== null && checked.restart_needed.length > 0 && (
              <p>Restart required: {checked.restart_needed.join(", ")}</p>
            )}
          </div>
        )}
      </form>
    </section>
  );
}

const Reloads = ({ reloads }: { reloads: ConfigShown["reloads"] }) => (
  <section class="panel">
    <h2>Reloads</h2>
    {reloads.length === 0 ? (
      <p class="muted">No reloads since startup. The file is reloaded when it changes or on SIGHUP.</p>
    ) : (
      <table>
        <tbody>
          {reloads.toReversed().map(({ at, ok, problems, restart_needed }) => (
            <tr key={at}>
              <th scope="row">{full(at)}</th>
              <td>
                <State kind={ok ? "good" : "bad"}>{ok ? "applied" : "rejected"}</State>
              </td>
              <td>
                <ProblemList problems={problems} />
                {restart_needed.length > 0 && `Restart required: ${restart_needed.join(", ")}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);

const VIEWS = [
  { value: "file", name: "File" },
  { value: "all", name: "All values" },
] as const;

function Values({ config }: { config: ConfigShown }) {
  const { written, values, origins } = config;
  const shown = VIEWS.find(({ value }) => value === place.value.query.get("view"))?.value ?? "file";
  return (
    <>
      <div class="tools">
        <Choice
          label="Shown values"
          value={shown}
          options={VIEWS}
          onChange={(value) => setQuery({ view: value === "file" ? undefined : value }, true)}
        />
        <span class="muted">
          {shown === "file"
            ? "What the file sets, as a configuration: references in place of secrets, without comments."
            : "Every value in force with its defaults, in the units of the program. This is not a configuration file."}
        </span>
      </div>
      <div class="config">
        {shown === "all" ? (
          <Code text={yamlOf(values).trimStart()} />
        ) : written === null ? (
          <Empty title="No configuration file">
            <p>
              Defaults apply. To begin one, copy <code>trivium.example.yaml</code> to <code>trivium.yaml</code> in the
              working folder of the gateway.
            </p>
          </Empty>
        ) : (
          <Code text={Object.keys(written).length === 0 ? "# The file is empty." : yamlOf(written).trimStart()} />
        )}
        <section class="panel">
          <h2>Sources</h2>
          <table>
            <tbody>
              {Object.entries(origins).map(([name, origin]) => (
                <tr key={name}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td class={origin === "default" ? "muted" : undefined}>{origin}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </>
  );
}

export function Config() {
  const loaded = useData("config", (abort) => ask<{ data: ConfigShown }>("/api/config", {}, abort));
  return (
    <>
      <PageHead title="Configuration in force">
        <button type="button" onClick={loaded.reload}>
          Refresh
        </button>
      </PageHead>
      <Loaded of={loaded}>
        {({ data: config }) => (
          <>
            <p class="lead">
              {config.file === null ? "No configuration file. Defaults apply." : <code>{config.file}</code>}
              <span class="muted">Secrets are never shown.</span>
            </p>
            {config.warnings.length > 0 && <ProblemList problems={config.warnings} />}
            <Values config={config} />
            <Reloads reloads={config.reloads} />
            {session.value?.role === "admin" && <Check />}
          </>
        )}
      </Loaded>
    </>
  );
}
