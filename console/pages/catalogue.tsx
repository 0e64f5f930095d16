import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { CatalogueUpdate } from "../api/types.ts";
import { counted, whole } from "../format/numbers.ts";
import { ago, full } from "../format/time.ts";
import { Empty, PageHead, Problem } from "../parts/basics.tsx";
import { CatalogueChanges } from "../parts/catalogue-changes.tsx";
import { CompareList } from "../parts/compare-list.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useData } from "../parts/use-data.ts";
import { allModels, modelPath } from "../state/catalogue-lists.ts";
import { type PriceAges, priceAges } from "../state/price-ages.ts";

async function load(abort: AbortSignal) {
  const [{ models }, updates] = await Promise.all([
    allModels(abort),
    ask<{ data: CatalogueUpdate[] }>("/api/catalogue/updates", {}, abort),
  ]);
  return { ages: priceAges(models), updates: updates.data };
}

const OLD_DAYS = 90;

function Figures({ ages: { prices, unpriced, oldest, byOrigin, sources } }: { ages: PriceAges }) {
  const origins = [...byOrigin].map(([origin, count]) => `${whole(count)} ${origin}`).join(", ");
  return (
    <>
      {oldest !== undefined && oldest.days > OLD_DAYS && (
        <p class="reasons" role="status">
          Prices are up to {oldest.days} days old. The oldest is that of{" "}
          <a href={modelPath(oldest.model)}>{oldest.model}</a>. Compare a list to see what has changed.
        </p>
      )}
      <dl class="tiles supply-tiles">
        <div class="tile">
          <dt>Prices in force</dt>
          <dd>
            <strong>{whole(prices)}</strong>
            <span class="muted">{origins}</span>
          </dd>
        </div>
        <div class="tile">
          <dt>Oldest price</dt>
          <dd>
            <strong>{oldest === undefined ? "–" : counted(oldest.days, "day")}</strong>
            <span>{oldest !== undefined && <a href={modelPath(oldest.model)}>{oldest.model}</a>}</span>
          </dd>
        </div>
        <div class="tile">
          <dt>Offers without a price</dt>
          <dd>
            <strong>{whole(unpriced.length)}</strong>
            <span>
              {unpriced[0] === undefined ? (
                <span class="muted">every offer has one</span>
              ) : (
                <a href={modelPath(unpriced[0].model)}>
                  {unpriced[0].model} at {unpriced[0].provider}
                </a>
              )}
            </span>
          </dd>
        </div>
      </dl>
      <h2 class="over">Where prices come from</h2>
      <DataTable
        label="Where prices come from"
        rows={sources}
        keyOf={({ name, asOf }) => `${name} ${asOf}`}
        columns={SOURCES}
      />
    </>
  );
}

const SOURCES: Column<PriceAges["sources"][number]>[] = [
  { id: "name", title: "List", cell: ({ name }) => name },
  { id: "origin", title: "Origin", cell: ({ origin }) => origin },
  { id: "asOf", title: "Day", cell: ({ asOf }) => asOf ?? <span class="muted">not dated</span> },
  {
    id: "days",
    title: "Age in days",
    kind: "number",
    cell: ({ days }) => (days === null ? "–" : whole(days)),
  },
  { id: "prices", title: "Prices", kind: "number", onPhone: "lead", cell: ({ prices }) => whole(prices) },
];

function RemoveUpdate({
  update,
  onDone,
  onClose,
}: {
  update: CatalogueUpdate;
  onDone: () => void;
  onClose: () => void;
}) {
  const [error, setError] = useState<Error | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await change("DELETE", `/api/catalogue/updates/${update.number}`);
      onDone();
      onClose();
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Remove update ${update.number}`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          The values of <strong>{update.source}</strong> for {counted(update.models, "model")} no longer apply, and
          those before them hold again. Later calls are billed at those prices.
        </p>
        {error && <Problem error={error} />}
        <footer>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            Remove update {update.number}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The changes of an applied update, read when it is opened. */
function Changes({ number }: { number: number }) {
  const loaded = useData(String(number), (abort) =>
    ask<{ data: Parameters<typeof CatalogueChanges>[0]["report"] }>(`/api/catalogue/updates/${number}`, {}, abort),
  );
  return <Loaded of={loaded}>{({ data }) => <CatalogueChanges report={data} />}</Loaded>;
}

function Updates({
  updates,
  onRemove,
}: {
  updates: readonly CatalogueUpdate[];
  onRemove: (update: CatalogueUpdate) => void;
}) {
  const [open, setOpen] = useState<number | undefined>(undefined);
  const columns: Column<CatalogueUpdate>[] = [
    {
      id: "number",
      title: "Update",
      cell: ({ number, source }) => (
        <button
          type="button"
          class="cell"
          aria-expanded={open === number}
          onClick={() => setOpen(open === number ? undefined : number)}
        >
          {number}: {source}
        </button>
      ),
    },
    { id: "asOf", title: "Day of the list", cell: ({ as_of }) => as_of },
    {
      id: "applied",
      title: "Applied",
      cell: ({ applied_at }) => <span title={full(applied_at)}>{ago(applied_at)}</span>,
    },
    { id: "models", title: "Models", kind: "number", onPhone: "lead", cell: ({ models }) => whole(models) },
    { id: "retirements", title: "Retirements", kind: "number", cell: ({ retirements }) => whole(retirements.length) },
    {
      id: "digest",
      title: "Digest",
      cell: ({ digest }) => (
        <code class="cut" title={digest}>
          {digest.slice(0, 19)}…
        </code>
      ),
    },
    {
      id: "acts",
      title: "Actions",
      kind: "acts",
      cell: (update) =>
        session.value?.role === "admin" && (
          <button
            type="button"
            class="quiet danger"
            aria-label={`Remove update ${update.number}`}
            onClick={() => onRemove(update)}
          >
            Remove
          </button>
        ),
    },
  ];
  return (
    <DataTable
      label="Applied updates"
      rows={updates}
      keyOf={({ number }) => String(number)}
      columns={columns}
      inner={({ number }) =>
        open === number ? (
          <tr class="inner">
            <td colSpan={columns.length}>
              <Changes number={number} />
            </td>
          </tr>
        ) : null
      }
    />
  );
}

export function Catalogue() {
  const loaded = useData("catalogue", load);
  const [removing, setRemoving] = useState<CatalogueUpdate | undefined>(undefined);
  const [isComparing, setComparing] = useState(false);
  return (
    <>
      <PageHead title="Catalogue">
        {session.value?.role === "admin" && !isComparing && (
          <button type="button" class="main" onClick={() => setComparing(true)}>
            Compare a list
          </button>
        )}
      </PageHead>
      {isComparing && <CompareList onApplied={loaded.reload} onClose={() => setComparing(false)} />}
      <Loaded of={loaded}>
        {({ ages, updates }) => (
          <>
            <Figures ages={ages} />
            <h2 class="over">Applied updates</h2>
            {updates.length === 0 ? (
              <Empty title="No updates applied">
                <p>
                  The built-in models and prices apply, with what the configuration sets. Compare them with a published
                  list here, or run <code>trivium catalogue update</code>.
                </p>
              </Empty>
            ) : (
              <Updates updates={updates} onRemove={setRemoving} />
            )}
            <p class="muted small below">
              Prices in <a href="/config">the configuration</a> always win over updates, and updates over built-in ones.
            </p>
          </>
        )}
      </Loaded>
      {removing && <RemoveUpdate update={removing} onDone={loaded.reload} onClose={() => setRemoving(undefined)} />}
    </>
  );
}
