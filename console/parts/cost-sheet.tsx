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
          <th scope="row">Discount of the project</th>
          <td />
          <td class="number">− {part.discount_basis_points / 100}%</td>
          <td />
        </tr>
      )}
    </tbody>
  );
}

const SOURCES: Readonly<Record<string, string>> = {
  measured: "The provider counted.",
  estimated: "The gateway estimated: the provider told no figures.",
  partial: "The answer broke off: what was produced until then is counted.",
};

/** What a call cost, as arithmetic that a reader can check. */
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
              <th scope="col">What</th>
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
              <th scope="row">Sum, rounded once</th>
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
  prompt_missing: "no tokens of the prompt",
  prompt_above_context: "a longer prompt than the model takes",
  output_below_text: "fewer tokens than the text of the answer has",
  output_above_limit: "more tokens than the request, the model or the text of the answer allow",
};

/** Why a usage that a provider reported was not billed, and what it was next to what was billed; undefined where it was. */
export function correctionOf({ reported, usage, usage_corrections }: Corrected) {
  if (reported === null) return undefined;
  // Uses of hosted tools are not corrected.
  const { tools: _tools, ...counters } = reported;
  const rows = (Object.keys(counters) as (keyof typeof counters)[]).flatMap((counter) => {
    const [told, billed] = [counters[counter], usage[counter]];
    return told === billed ? [] : [{ counter, told, billed }];
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
      <p>The provider reported {correction.reasons.join(", and ")}, which cannot be true.</p>
      <table class="sheet">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col" class="number">
              Reported
            </th>
            <th scope="col" class="number">
              Billed
            </th>
          </tr>
        </thead>
        <tbody>
          {correction.rows.map(({ counter, told, billed }) => (
            <tr key={counter}>
              <th scope="row">{words(counter)}</th>
              <td class="number">{known(told, whole)}</td>
              <td class="number">{known(billed, whole)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Receipts of earlier versions do not say which prices they were billed by. */
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
