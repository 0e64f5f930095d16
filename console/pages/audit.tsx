import { ask } from "../api/client.ts";
import type { Act, Page } from "../api/types.ts";
import { ActList } from "../keys/act-list.tsx";
import { Empty, PageHead } from "../parts/basics.tsx";
import { CopyLink } from "../parts/copy-link.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Pager } from "../parts/pager.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { useData } from "../parts/use-data.ts";
import { ACTS, actorOf, actWords } from "../state/audit-words.ts";
import { nameOfKey } from "../state/names.ts";
import { rangeQuery, readRange } from "../state/range.ts";
import { place, setQuery } from "../state/router.ts";

const PAGE_SIZE = 100;
const FILTERS = ["who", "act", "target"] as const;
const FILTER_NAMES = { who: "actor", act: "what", target: "object" } as const;

/** The filters in force; each goes with a click. */
function Chips() {
  const { query } = place.value;
  const given = FILTERS.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [{ name, value }];
  });
  if (given.length === 0) return null;
  const shown = (name: (typeof FILTERS)[number], value: string): string =>
    name === "who" ? actorOf(value, nameOfKey) : name === "act" ? actWords(value) : nameOfKey(value);
  return (
    <ul class="chips" aria-label="Filters">
      {given.map(({ name, value }) => (
        <li key={name}>
          <button
            type="button"
            class="chip"
            aria-label={`Remove filter ${FILTER_NAMES[name]} ${shown(name, value)}`}
            onClick={() => setQuery({ [name]: undefined, after: undefined })}
          >
            <span class="muted">{FILTER_NAMES[name]}</span> {shown(name, value)}
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Filters() {
  const { query } = place.value;
  const change = (name: string) => (event: { currentTarget: { value: string } }) =>
    setQuery({ [name]: event.currentTarget.value.trim(), after: undefined });
  return (
    <div class="list-filters">
      <label>
        <span class="muted">What</span>{" "}
        <select value={query.get("act") ?? ""} onChange={change("act")}>
          <option value="">everything</option>
          {ACTS.map((act) => (
            <option key={act} value={act}>
              {actWords(act)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="muted">Actor</span>{" "}
        <input
          key={`who ${query.get("who")}`}
          list="actors"
          defaultValue={query.get("who") ?? ""}
          placeholder="operator:admin"
          onChange={change("who")}
        />
      </label>
      <label>
        <span class="muted">Object</span>{" "}
        <input
          key={`target ${query.get("target")}`}
          list="objects"
          defaultValue={query.get("target") ?? ""}
          placeholder="ID of a key, a project, …"
          onChange={change("target")}
        />
      </label>
    </div>
  );
}

/** The actors and objects of the acts that are shown, as suggestions. Any other can be typed. */
function Suggestions({ acts }: { acts: readonly Act[] }) {
  const actors = [...new Set(acts.map(({ who }) => who))].sort();
  const objects = [...new Map(acts.map(({ target }) => [target, nameOfKey(target)]))];
  return (
    <>
      <datalist id="actors">
        {actors.map((who) => (
          <option key={who} value={who} />
        ))}
      </datalist>
      <datalist id="objects">
        {objects.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  );
}

export function Audit() {
  const { query } = place.value;
  const [who, act, target, after] = [...FILTERS, "after"].map((name) => query.get(name) ?? undefined);
  const range = readRange(query, Date.now(), "30d");
  const named = ["range", "from", "to"].map((name) => query.get(name) ?? "").join(" ");
  const loaded = useData([who, act, target, after, named].join("\n"), (abort) =>
    ask<Page<Act>>("/api/audit", { limit: PAGE_SIZE, who, act, target, after, ...rangeQuery(range) }, abort),
  );
  const isNarrowed = who !== undefined || act !== undefined || target !== undefined;
  return (
    <>
      <PageHead title="Audit">
        <RangeChoice range={range} />
        <CopyLink usual="30d" />
      </PageHead>
      <Filters />
      <Chips />
      <Loaded of={loaded} rows={12}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty title={isNarrowed ? "Nothing fits" : "Nothing in this range"}>
              {isNarrowed ? (
                <p>
                  Nothing in this range fits the filter.{" "}
                  <button
                    type="button"
                    onClick={() => setQuery({ who: undefined, act: undefined, target: undefined, after: undefined })}
                  >
                    Remove the filter
                  </button>
                </p>
              ) : (
                <p>Changes, logins and exports are recorded here, with the values before. Entries are never removed.</p>
              )}
            </Empty>
          ) : (
            <>
              <ActList acts={page.data} />
              <Pager page={page} of="audit entries" />
            </>
          )
        }
      </Loaded>
      <Suggestions acts={loaded.data?.data ?? []} />
    </>
  );
}
