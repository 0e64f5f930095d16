import type { ReceiptDetail } from "../api/types.ts";
import { usd } from "../format/money.ts";
import { known, whole } from "../format/numbers.ts";
import { words } from "./basics.tsx";

type Part = NonNullable<ReceiptDetail["priced"]>[number];

const UNITS: Readonly<Record<string, string>> = {
  perMTokens: "/ M",
  perMCharacters: "/ M characters",
  perCount: "each",
  perSecond: "/ s",
  call: "each",
  "1k_calls": "/ 1k calls",
  image: "/ image",
  session: "/ session",
  gb_day: "/ GB-day",
  mtok_hour: "/ M token-hours",
};

const amount = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 3 });

function PartRows({ part }: { part: Part }) {
  return (
    <tbody>
      {part.lines.map(({ counter, amount: used, price_usd, unit, cost_nano_usd }) => (
        <tr key={counter}>
          <th scope="row">{words(counter)}</th>
          <td class="number">{amount(used)}</td>
          <td class="number">{price_usd === null ? "no price" : `× $${price_usd} ${UNITS[unit] ?? unit}`}</td>
          <td class="number">{usd(cost_nano_usd, 9)}</td>
        </tr>
      ))}
      {part.multiple !== 1 && (
        <tr>
          <th scope="row">Terms: {part.terms.join(", ")}</th>
          <td />
          <td class="number">× {part.multiple}</td>
          <td />
        </tr>
      )}
      {part.discount_basis_points > 0 && (
        <tr>
          <th scope="row">Project discount</th>
          <td />
          <td class="number">− {part.discount_basis_points / 100}%</td>
          <td />
        </tr>
      )}
    </tbody>
  );
}

const SOURCES: Readonly<Record<string, string>> = {
  measured: "Usage was reported by the provider.",
  estimated: "Usage was estimated by the gateway because the provider reported none.",
  partial: "The response was interrupted. Usage up to that point is counted.",
};

/** The cost of a call, as arithmetic that the reader can check. */
export function CostSheet({ call }: { call: ReceiptDetail }) {
  return (
    <section class="panel">
      <h2>Usage and cost</h2>
      {call.priced === null ? (
        <Counters call={call} />
      ) : (
        <table class="sheet">
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col" class="number">
                Amount
              </th>
              <th scope="col" class="number">
                Price
              </th>
              <th scope="col" class="number">
                Cost
              </th>
            </tr>
          </thead>
          {call.priced.map((part, at) => (
            <PartRows key={at} part={part} />
          ))}
          <tfoot>
            <tr>
              <th scope="row">Total (rounded once)</th>
              <td />
              <td />
              <td class="number">{usd(call.cost_nano_usd, 9)}</td>
            </tr>
          </tfoot>
        </table>
      )}
      <p class="muted small">
        {SOURCES[call.usage_source] ?? call.usage_source} Price rule: {call.price_rule || "none"}.
      </p>
      <Correction call={call} />
    </section>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  prompt_missing: "no prompt tokens",
  prompt_above_context: "a longer prompt than the model accepts",
  output_below_text: "fewer tokens than the response text contains",
  output_above_limit: "more tokens than the request, the model or the response text allows",
};

/** Why the usage reported by the provider was corrected, and both sets of figures; undefined if it was not. */
export function correctionOf({ reported, usage, usage_corrections }: Corrected) {
  if (reported === null) return undefined;
  // Hosted tool usage is never corrected.
  const { tools: _tools, ...counters } = reported;
  const rows = (Object.keys(counters) as (keyof typeof counters)[]).flatMap((counter) => {
    const [claimed, billed] = [counters[counter], usage[counter]];
    return claimed === billed ? [] : [{ counter, claimed, billed }];
  });
  return { reasons: usage_corrections.map((reason) => REASONS[reason] ?? words(reason)), rows };
}

type Corrected = Pick<ReceiptDetail, "reported" | "usage" | "usage_corrections">;

function Correction({ call }: { call: Corrected }) {
  const correction = correctionOf(call);
  if (correction === undefined) return null;
  return (
    <>
      <h3>Corrected usage</h3>
      <p>The provider reported {correction.reasons.join(", and ")}, which cannot be correct.</p>
      <table class="sheet">
        <thead>
          <tr>
            <th scope="col">Item</th>
            <th scope="col" class="number">
              Reported
            </th>
            <th scope="col" class="number">
              Billed
            </th>
          </tr>
        </thead>
        <tbody>
          {correction.rows.map(({ counter, claimed, billed }) => (
            <tr key={counter}>
              <th scope="row">{words(counter)}</th>
              <td class="number">{known(claimed, whole)}</td>
              <td class="number">{known(billed, whole)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Receipts of earlier versions do not record the prices that applied. */
function Counters({ call }: { call: ReceiptDetail }) {
  const used = Object.entries(call.usage).filter((entry): entry is [string, number] => entry[1] !== null);
  return (
    <dl class="facts">
      {used.map(([name, value]) => (
        <div key={name}>
          <dt>{words(name)}</dt>
          <dd>{whole(value)}</dd>
        </div>
      ))}
      <div>
        <dt>Cost</dt>
        <dd>{usd(call.cost_nano_usd, 9)}</dd>
      </div>
    </dl>
  );
}
