import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ConfigChecked, ConfigShown } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { yamlOf } from "../format/yaml.ts";
import { Code, PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { useData } from "../parts/use-data.ts";

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

export function Config() {
  const { data, error, reload } = useData("config", (abort) => ask<{ data: ConfigShown }>("/api/config", {}, abort));
  const config = data?.data;
  return (
    <>
      <PageHead title="Active configuration" />
      {error && <Problem error={error} retry={reload} />}
      {config === undefined ? (
        !error && <Waiting />
      ) : (
        <>
          <p class="lead">
            {config.file === null ? "No configuration file. Defaults apply." : <code>{config.file}</code>}
            <span class="muted">Secrets are never shown.</span>
          </p>
          {config.warnings.length > 0 && <ProblemList problems={config.warnings} />}
          <div class="config">
            <Code text={yamlOf(config.values).trimStart()} />
            <section class="panel">
              <h2>Sources</h2>
              <table>
                <tbody>
                  {Object.entries(config.origins).map(([name, origin]) => (
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
          <Reloads reloads={config.reloads} />
          {session.value?.role === "admin" && <Check />}
        </>
      )}
    </>
  );
}
