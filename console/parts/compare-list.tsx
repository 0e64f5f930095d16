import { useState } from "preact/hooks";
import { change } from "../api/client.ts";
import type { CatalogueReport } from "../api/types.ts";
import { counted, whole } from "../format/numbers.ts";
import { Code, Problem } from "./basics.tsx";
import { CatalogueChanges, ChangeTable } from "./catalogue-changes.tsx";

interface Given {
  source: string;
  as_of: string;
  list: object;
}

const LISTS = `curl -fsSo models.dev.json https://models.dev/api.json
curl -fsSo litellm.json https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json`;

async function read(file: File): Promise<Given> {
  const as_of = new Date(file.lastModified).toISOString().slice(0, 10);
  try {
    return { source: file.name, as_of, list: JSON.parse(await file.text()) as object };
  } catch {
    throw new Error(`${file.name} is not JSON.`);
  }
}

/** Prices that would move by more than half. Each model is accepted by its name. */
function Held({
  held,
  confirmed,
  onConfirm,
}: {
  held: CatalogueReport["held"];
  confirmed: ReadonlySet<string>;
  onConfirm: (model: string, isConfirmed: boolean) => void;
}) {
  const models = [...new Set([...held.map(({ model }) => model), ...confirmed])].sort();
  return (
    <section>
      <h3>Held back: prices that move by more than half</h3>
      {held.length > 0 && <ChangeTable label="Held back" changes={held} />}
      <fieldset class="held">
        <legend>Accept the new prices of</legend>
        {models.map((model) => (
          <label key={model} class="check">
            <input
              type="checkbox"
              checked={confirmed.has(model)}
              onChange={(event) => onConfirm(model, event.currentTarget.checked)}
            />
            {model}
          </label>
        ))}
      </fieldset>
    </section>
  );
}

/** Compares a published list with the models in force, and applies exactly what was shown. */
export function CompareList({ onApplied, onClose }: { onApplied: () => void; onClose: () => void }) {
  const [given, setGiven] = useState<Given | undefined>(undefined);
  const [report, setReport] = useState<CatalogueReport | undefined>(undefined);
  const [confirmed, setConfirmed] = useState<ReadonlySet<string>>(new Set());
  const [error, setError] = useState<Error | undefined>(undefined);
  const [busy, setBusy] = useState(false);

  const send = async (list: Given, models: ReadonlySet<string>, more: object = {}) => {
    setBusy(true);
    setError(undefined);
    try {
      const body = { ...list, confirm: [...models], ...more };
      const { data } = await change<{ data: CatalogueReport }>("POST", "/api/catalogue/updates", body);
      setReport(data);
      if (data.applied !== null) onApplied();
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setBusy(false);
    }
  };
  const choose = async (file: File | undefined) => {
    if (file === undefined) return;
    setReport(undefined);
    setConfirmed(new Set());
    try {
      const list = await read(file);
      setGiven(list);
      await send(list, new Set());
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  };
  const confirm = (model: string, isConfirmed: boolean) => {
    const models = new Set(confirmed);
    if (isConfirmed) models.add(model);
    else models.delete(model);
    setConfirmed(models);
    if (given !== undefined) void send(given, models);
  };
  return (
    <section class="panel compare" aria-label="Compare a list">
      <header>
        <h2>Compare a list</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      <div class="padded">
        <p class="muted small">The gateway and this page fetch nothing. Download a list, and choose its file here:</p>
        <Code text={LISTS} />
        <label>
          List (JSON)
          <input
            type="file"
            accept="application/json,.json"
            onChange={(event) => void choose(event.currentTarget.files?.[0])}
          />
        </label>
        {error && <Problem error={error} />}
        {given !== undefined && report !== undefined && (
          <>
            <p role="status">
              {report.applied !== null
                ? `Applied as update ${report.applied}. Running gateways use it within seconds.`
                : report.models === 0
                  ? `${given.source} has ${counted(report.listed, "model")} of known vendors. Nothing to apply.`
                  : `${given.source} as of ${given.as_of} would change ${counted(report.models, "model")} of ${whole(report.listed)} listed.`}
            </p>
            <CatalogueChanges report={report} />
            {report.applied === null && (report.held.length > 0 || confirmed.size > 0) && (
              <Held held={report.held} confirmed={confirmed} onConfirm={confirm} />
            )}
            <p class="small">
              <span class="muted">Digest</span> <code>{report.digest}</code>
            </p>
            {report.applied === null && report.models > 0 && (
              <ApplyButton
                models={report.models}
                busy={busy}
                onApply={() => void send(given, confirmed, { apply: true, digest: report.digest })}
              />
            )}
          </>
        )}
      </div>
    </section>
  );
}

/** Prices decide what calls cost, so it asks once. */
function ApplyButton({ models, busy, onApply }: { models: number; busy: boolean; onApply: () => void }) {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking)
    return (
      <button type="button" class="main" disabled={busy} onClick={() => setAsking(true)}>
        Apply to {counted(models, "model")}
      </button>
    );
  return (
    <p class="asks" role="alert">
      Calls that begin from now on are billed at these prices.
      <button type="button" class="main" disabled={busy} onClick={onApply}>
        Apply these prices
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        Cancel
      </button>
    </p>
  );
}
