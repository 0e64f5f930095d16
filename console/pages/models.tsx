import { useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { CatalogueModel, OfferPrices, Page } from "../api/types.ts";
import { known, short } from "../format/numbers.ts";
import { Empty, PageHead, Problem, State, Waiting, words } from "../parts/basics.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { useData } from "../parts/use-data.ts";
import { firstPrice, priceText } from "../state/prices.ts";

interface Catalogue {
  models: CatalogueModel[];
  prices: ReadonlyMap<string, OfferPrices[]>;
}

/** Upper bound on the pages that are read. */
const MOST_PAGES = 10;

async function allOf<Item>(path: string, abort: AbortSignal): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await ask<Page<Item>>(path, { limit: 500, after }, abort);
    items.push(...page.data);
    if (page.next === null) break;
    after = page.next;
  }
  return items;
}

/** By name, with the simulator's models last. */
function inOrder(one: CatalogueModel, other: CatalogueModel): number {
  const isSimulated = ({ id }: CatalogueModel) => Number(id.startsWith("sim/"));
  return isSimulated(one) - isSimulated(other) || one.id.localeCompare(other.id);
}

async function load(abort: AbortSignal): Promise<Catalogue> {
  const [models, prices] = await Promise.all([
    allOf<CatalogueModel>("/api/models", abort),
    allOf<OfferPrices>("/api/prices", abort),
  ]);
  return { models: models.sort(inOrder), prices: Map.groupBy(prices, ({ model }) => model) };
}

/** Where a value comes from, and how old it is. */
const provenance = (origin: string, source: string | null | undefined, day: string | null | undefined): string =>
  day ? `${source ?? origin}, as of ${day}` : origin;

const Offers = ({ model, prices }: { model: CatalogueModel; prices: readonly OfferPrices[] }) => (
  <tr class="inner">
    <td colSpan={8}>
      <div class="offers">
        {prices.map((offer) => (
          <section key={offer.id}>
            <h3>
              {offer.provider} <span class="muted">{offer.upstream_model}</span>
            </h3>
            {offer.prices.length === 0 ? (
              <p class="muted">No price is known. Calls are recorded with a cost of $0.</p>
            ) : (
              <table>
                <tbody>
                  {offer.prices.map(({ name, items, origin, source, as_of }) => (
                    <tr key={name}>
                      <th scope="row">{words(name)}</th>
                      <td>{items.map(priceText).join("; ")}</td>
                      <td class="muted">{provenance(origin, source, as_of)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            {offer.note !== null && <p class="muted small">{offer.note}</p>}
          </section>
        ))}
        <section>
          <h3>Sources</h3>
          <p class="muted small">
            {Object.entries(model.origins)
              .map(([name, origin]) => `${words(name)}: ${provenance(origin, model.sources[name], model.as_of[name])}`)
              .join(" · ")}
          </p>
          <p>
            <a href={callsWith({ model: model.id }, "30d")}>View calls</a> ·{" "}
            <a href={`/play?model=${encodeURIComponent(model.id)}`}>Open in playground</a>
          </p>
        </section>
      </div>
    </td>
  </tr>
);

function Row({
  model,
  prices,
  isOpen,
  onToggle,
}: {
  model: CatalogueModel;
  prices: readonly OfferPrices[];
  isOpen: boolean;
  onToggle: () => void;
}) {
  const [offer] = prices;
  return (
    <>
      <tr>
        <th scope="row" class="name">
          <button type="button" class="cell" aria-expanded={isOpen} onClick={onToggle}>
            {model.id}
          </button>
        </th>
        <td>{model.kind}</td>
        <td class="number">{known(model.context_length, short)}</td>
        <td class="number">{known(model.max_output_tokens, short)}</td>
        <td class="number">{firstPrice(offer, ["prompt"])}</td>
        <td class="number">
          {firstPrice(offer, ["completion", "image", "video", "audio_and_video", "audio", "characters"])}
        </td>
        <td class="name">{model.offers.map(({ provider }) => provider).join(", ")}</td>
        <td>
          {model.retired ? (
            <State kind="bad">retired</State>
          ) : model.retires_on !== null ? (
            <State kind="warn">retires {model.retires_on}</State>
          ) : (
            !model.priced && <State kind="idle">no price</State>
          )}
        </td>
      </tr>
      {isOpen && <Offers model={model} prices={prices} />}
    </>
  );
}

export function Models() {
  const { data, error, reload } = useData("models", load);
  const [text, setText] = useState("");
  const [open, setOpen] = useState<string | undefined>(undefined);
  const shown = data?.models.filter(({ id, aliases }) =>
    [id, ...aliases].some((name) => name.toLowerCase().includes(text.toLowerCase())),
  );
  return (
    <>
      <PageHead title="Models">
        <input
          type="search"
          aria-label="Search models"
          placeholder="Search models"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {shown === undefined ? (
        !error && <Waiting rows={12} />
      ) : shown.length === 0 ? (
        <Empty title="No matching models">
          <p>
            A model is available when a provider that serves it is configured. See <a href="/providers">providers</a>,
            or add the model under <code>models</code> in the configuration.
          </p>
        </Empty>
      ) : (
        <section class="wide" tabIndex={0} aria-label="Models table">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col">Kind</th>
                <th scope="col" class="number">
                  Context
                </th>
                <th scope="col" class="number">
                  Max output
                </th>
                <th scope="col" class="number">
                  Input price
                </th>
                <th scope="col" class="number">
                  Output price
                </th>
                <th scope="col">Providers</th>
                <th scope="col">
                  <span class="unseen">Notes</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((model) => (
                <Row
                  key={model.id}
                  model={model}
                  prices={data?.prices.get(model.id) ?? []}
                  isOpen={open === model.id}
                  onToggle={() => setOpen(open === model.id ? undefined : model.id)}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
