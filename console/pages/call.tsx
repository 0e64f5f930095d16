import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { ReceiptDetail } from "../api/types.ts";
import { money } from "../format/money.ts";
import { decimal, duration } from "../format/numbers.ts";
import { PageHead, Problem, Waiting, words } from "../parts/basics.tsx";
import { Bodies } from "../parts/bodies.tsx";
import { CallActions } from "../parts/call-actions.tsx";
import { CallHead } from "../parts/call-head.tsx";
import { CallNeighbours } from "../parts/call-neighbours.tsx";
import { CostSheet } from "../parts/cost-sheet.tsx";
import { Fact } from "../parts/fact.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { useData } from "../parts/use-data.ts";
import { Waterfall } from "../parts/waterfall.tsx";
import { callSpeed } from "../state/call-speed.ts";
import { modelPath } from "../state/catalogue-lists.ts";
import { endUserAddress } from "../state/end-users.ts";
import { backToList, listAddress } from "../state/list-place.ts";
import { nameOfKey, nameOfProject } from "../state/names.ts";
import { place } from "../state/router.ts";

function Facts({ call }: { call: ReceiptDetail }) {
  const tokensPerSecond = callSpeed(call);
  return (
    <section class="panel" aria-labelledby="request-facts">
      <h2 id="request-facts">Request</h2>
      <dl class="facts">
        <Fact name="Model">
          <a href={modelPath(call.model)}>{call.model}</a>
        </Fact>
        <Fact name="Provider">
          {call.provider === "" ? "–" : <a href={`/providers/${encodeURIComponent(call.provider)}`}>{call.provider}</a>}
          {call.upstream_model !== "" && <span class="muted"> {call.upstream_model}</span>}
        </Fact>
        <Fact name="Key">
          <a href={`/keys/${encodeURIComponent(call.key)}`}>{nameOfKey(call.key)}</a>
        </Fact>
        <Fact name="Project">
          <a href={`/projects/${encodeURIComponent(call.project)}`}>{nameOfProject(call.project)}</a>
        </Fact>
        {call.end_user !== null && (
          <Fact name="End user">
            <a href={endUserAddress(call.end_user)}>{call.end_user}</a>
          </Fact>
        )}
        {call.tags.length > 0 && (
          <Fact name="Tags">
            {call.tags.map((tag) => (
              <span key={tag}>
                <a href={callsWith({ tag })}>{tag}</a>{" "}
              </span>
            ))}
          </Fact>
        )}
        <Fact name="Request">
          {words(call.verb)}, {call.stream ? "streamed" : "not streamed"}
        </Fact>
        <Fact name="Dialect">
          {call.lane === "native"
            ? `${call.dialect.client}, native lane`
            : `${call.dialect.client} → ${call.dialect.upstream}, translated`}
        </Fact>
        {call.cached_answer !== null && (
          <Fact name="Cached response">
            <a href={`/calls/${call.cached_answer.receipt}`}>{call.cached_answer.age_seconds} s old</a>
            <span class="muted"> saved {money(call.saved_nano_usd)}</span>
          </Fact>
        )}
        <Fact name="Speed">{tokensPerSecond === null ? "–" : `${decimal(tokensPerSecond)} tokens/s`}</Fact>
        <Fact name="Stop reason">
          {call.stop === null ? "–" : call.stop.unified}
          {call.stop !== null && call.stop.raw !== call.stop.unified && <span class="muted"> {call.stop.raw}</span>}
        </Fact>
        {call.batch !== null && (
          <Fact name="Batch">
            <a href={`/batches/${call.batch.id}`}>{call.batch.id}</a>
            <span class="muted">
              {" "}
              line {call.batch.line}, {call.batch.custom_id}
            </span>
          </Fact>
        )}
        {call.session_id !== null && (
          <Fact name="Session ID">
            <a href={callsWith({ session: call.session_id }, "30d")}>
              <code>{call.session_id}</code>
            </a>
          </Fact>
        )}
        <Fact name="Instance">
          <span class="muted">{call.instance ?? "–"}</span>
        </Fact>
      </dl>
    </section>
  );
}

const Fields = ({ fields }: { fields: ReceiptDetail["fields"] }) => (
  <section class="panel">
    <h2>Fields</h2>
    {fields.length === 0 ? (
      <p class="muted">All request fields were applied as sent.</p>
    ) : (
      <table>
        <thead>
          <tr>
            <th scope="col">Path</th>
            <th scope="col">Action</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ path, action, reason }) => (
            <tr key={`${path} ${reason}`}>
              <th scope="row">
                <code>{path}</code>
              </th>
              <td>{action}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);

const Guards = ({ guards }: { guards: ReceiptDetail["guards"] }) => (
  <section class="panel">
    <h2>Guards</h2>
    <table>
      <thead>
        <tr>
          <th scope="col">Guard</th>
          <th scope="col">Checked</th>
          <th scope="col">Verdict</th>
          <th scope="col" class="number">
            Matches
          </th>
          <th scope="col">Found</th>
          <th scope="col" class="number">
            Time
          </th>
        </tr>
      </thead>
      <tbody>
        {guards.map(({ name, on, verdict, count, paths, reason, ms }) => (
          <tr key={`${name} ${on}`}>
            <th scope="row">
              <a href={callsWith({ guard: name }, "30d")}>{name}</a>
            </th>
            <td>{on}</td>
            <td>{words(verdict)}</td>
            <td class="number">{count}</td>
            <td>
              {reason ?? ""}
              {paths.length > 0 && " in "}
              {paths.map((path, at) => (
                <span key={path}>
                  {at > 0 && ", "}
                  <code>{path}</code>
                </span>
              ))}
            </td>
            <td class="number">{duration(ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const Plan = ({ plan }: { plan: NonNullable<ReceiptDetail["plan"]> }) => (
  <section class="panel">
    <h2>Plan</h2>
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">
            Order
          </th>
          <th scope="col">Offer</th>
          <th scope="col">Reason</th>
        </tr>
      </thead>
      <tbody>
        {plan.map(({ place: at, provider, credential, model, why }) => (
          <tr key={at}>
            <td class="number">{at}</td>
            <th scope="row">{[provider, credential, model].filter((part) => part !== null).join(" · ")}</th>
            <td>{why}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

export function OneCall() {
  const id = decodeURIComponent(place.value.path.slice("/calls/".length));
  const { data, error, reload } = useData(id, (abort) =>
    ask<{ data: ReceiptDetail }>(`/api/receipts/${encodeURIComponent(id)}`, {}, abort),
  );
  const call = data?.data;
  useEffect(() => {
    const leave = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || isBusy(event)) return;
      backToList(place.value.path);
    };
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  }, []);
  return (
    <>
      <p class="crumb">
        <a
          href={listAddress()}
          onClick={(event) => {
            event.preventDefault();
            backToList(place.value.path);
          }}
        >
          <Icon name="back" size={15} /> Calls
        </a>
      </p>
      <PageHead title={call === undefined ? "Call" : `${words(call.verb)} with ${call.model}`}>
        {call && <CallActions key={call.id} call={call} />}
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {call === undefined ? (
        !error && <Waiting />
      ) : (
        <>
          <CallHead call={call} />
          <Waterfall call={call} />
          <div class="two-panels">
            <CostSheet call={call} />
            <Facts call={call} />
          </div>
          <Fields fields={call.fields} />
          {call.guards.length > 0 && <Guards guards={call.guards} />}
          <Bodies key={call.id} call={call} />
          {call.plan !== null && <Plan plan={call.plan} />}
          <CallNeighbours key={call.id} call={call} />
        </>
      )}
    </>
  );
}

const isBusy = ({ target }: KeyboardEvent): boolean =>
  document.querySelector("dialog[open], :popover-open") !== null ||
  (target instanceof HTMLElement && target.closest("input, textarea, select") !== null);
