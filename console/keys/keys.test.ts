import { describe, expect, test } from "bun:test";
import type { ListedKey, Project } from "../api/types.ts";
import { windowStart } from "../state/budgets.ts";
import { filterKeys, readStateChoice, type StatedKey } from "./key-filter.ts";
import { GROUPS, keyInput } from "./key-input.ts";
import { inOrder } from "./key-order.ts";
import { settingsOf } from "./key-settings.ts";
import { statesOf } from "./key-state.ts";
import { modelToTry } from "./try-model.ts";

const NOW_MS = Date.parse("2026-11-18T12:00:00Z");
const NANO = 1_000_000_000;

const NOTHING_SPENT = { day: 0, week: 0, month: 0, quarter: 0, total: 0 };

const KEY: ListedKey = {
  id: "key_1",
  from: "storage",
  name: "search",
  project: "shop",
  hint: "abcd",
  models: ["*"],
  protocols: null,
  limits: {},
  end_users: null,
  limits_by_model: {},
  limits_by_tag: {},
  strict: false,
  capture: false,
  provider_objects: false,
  objects: null,
  cache: null,
  billing: { unpriced: null },
  routing: {},
  networks: null,
  scopes: [],
  tags: [],
  expires_at: null,
  created_at: "2026-11-01T00:00:00.000Z",
  made_by: null,
  revoked_at: null,
  rotated_at: null,
  previous_until: null,
  last_used_at: null,
  spent_nano_usd: NOTHING_SPENT,
  state: "active",
  budgets: [],
};

const PROJECT: Project = {
  id: "shop",
  from: "storage",
  name: "Web shop",
  limits: {},
  end_users: null,
  limits_by_model: {},
  limits_by_tag: {},
  discounts: [],
  status: "active",
  provider_objects: false,
  objects: "project",
  cache: null,
  project_mb: null,
  billing: { unpriced: null },
  created_at: null,
};

const names = (key: Partial<ListedKey>, isSuspended = false): string[] =>
  statesOf({ ...KEY, ...key }, isSuspended, NOW_MS).map(({ name }) => name);

describe("the state of a key", () => {
  test("is active if nothing else is true", () => expect(names({})).toEqual(["active"]));

  test("a revoked or expired key has no other state", () => {
    const spent = { ...NOTHING_SPENT, total: 5 * NANO };
    const over = { limits: { budget_usd_total: 1 }, spent_nano_usd: spent };
    expect(names({ ...over, revoked_at: "2026-11-17T00:00:00.000Z" }, true)).toEqual(["revoked"]);
    expect(names({ ...over, expires_at: "2026-11-18T12:00:00.000Z" })).toEqual(["expired"]);
  });

  test("names the budget with the least left, and says 99% of one that is not used up", () => {
    const spent = { ...NOTHING_SPENT, day: 0.1 * NANO, week: 9.999 * NANO };
    const [state] = statesOf(
      { ...KEY, limits: { budget_usd_per_day: 1, budget_usd_per_week: 10 }, spent_nano_usd: spent },
      false,
      NOW_MS,
    );
    expect(state).toMatchObject({ name: "near budget", kind: "warn", text: "99% of budget" });
    expect(state?.why).toContain("weekly budget");
    expect(names({ limits: { budget_usd_per_week: 10 }, spent_nano_usd: { ...spent, week: 10 * NANO } })).toEqual([
      "used up",
    ]);
    expect(names({ limits: { budget_usd_per_day: 0 } })).toEqual(["used up"]);
    expect(names({ limits: { budget_usd_per_day: 1 }, spent_nano_usd: { ...spent, day: 0.79 * NANO } })).toEqual([
      "active",
    ]);
  });

  test("a budget that will not last, an expiry within a week, and a second secret are all said, the gravest first", () => {
    const budgets = [
      {
        window: "month" as const,
        limit_nano_usd: 10 * NANO,
        spent_nano_usd: 7 * NANO,
        used_percent: 70,
        forecast_nano_usd: 12 * NANO,
        exceeds_at: "2026-11-25T12:00:00.000Z",
        ends_at: "2026-12-01T00:00:00.000Z",
      },
    ];
    const key = {
      limits: { budget_usd_per_month: 10 },
      spent_nano_usd: { ...NOTHING_SPENT, month: 7 * NANO },
      budgets,
      expires_at: "2026-11-21T18:00:00.000Z",
      previous_until: "2026-11-19T12:30:00.000Z",
    };
    expect(statesOf({ ...KEY, ...key }, true, NOW_MS).map(({ text }) => text)).toEqual([
      "project suspended",
      "budget ends in 7 days",
      "expires in 3 days",
      "rotated, 24 h left",
    ]);
    expect(names({ expires_at: "2026-12-18T12:00:00.000Z", previous_until: "2026-11-18T11:00:00.000Z" })).toEqual([
      "active",
    ]);
  });
});

test("windows begin as budgets do: in UTC, weeks on Monday, quarters in January, April, July and October", () => {
  const starts = (at: string) =>
    (["day", "week", "month", "quarter"] as const).map((window) =>
      windowStart(window, Date.parse(at))?.toISOString().slice(0, 10),
    );
  expect(starts("2026-11-18T23:59:59Z")).toEqual(["2026-11-18", "2026-11-16", "2026-11-01", "2026-10-01"]);
  // A Sunday at the turn of the year.
  expect(starts("2023-01-01T00:00:00Z")).toEqual(["2023-01-01", "2022-12-26", "2023-01-01", "2023-01-01"]);
  expect(windowStart("total", NOW_MS)).toBeUndefined();
});

describe("the list of keys", () => {
  test("a key that is made to end within the hour is not reported as expiring", () => {
    const expires_at = new Date(NOW_MS + 5 * 60_000).toISOString();
    const created = (minutesAgo: number) => new Date(NOW_MS - minutesAgo * 60_000).toISOString();
    expect(names({ expires_at, created_at: created(5) })).toEqual(["temporary"]);
    expect(names({ expires_at, created_at: created(120) })).toEqual(["expiring"]);
    expect(names({ expires_at, created_at: null })).toEqual(["expiring"]);
  });

  const stated = (key: Partial<ListedKey>): StatedKey => {
    const whole = { ...KEY, ...key };
    return { key: whole, states: statesOf(whole, false, NOW_MS) };
  };
  const keys = [
    stated({ id: "key_a", name: "Billing chat", tags: ["team-a"] }),
    stated({ id: "key_b", name: "search", project: "research", spent_nano_usd: { ...NOTHING_SPENT, month: 9 } }),
    stated({ id: "key_c", name: "old", revoked_at: "2026-11-17T00:00:00.000Z" }),
    stated({ id: "key_d", name: "<img src=x>", limits: { budget_usd_total: 0 } }),
  ];
  const found = (text: string, state = "", project?: string) =>
    filterKeys(keys, { text, project, state: readStateChoice(new URLSearchParams({ state })) }).map(
      ({ key }) => key.id,
    );

  test("finds every word in any order and case, in names, tags, projects and IDs", () => {
    expect(found("CHAT billing")).toEqual(["key_a"]);
    expect(found("team-a")).toEqual(["key_a"]);
    expect(found("research")).toEqual(["key_b"]);
    expect(found("<img")).toEqual(["key_d"]);
    expect(found("billing search")).toEqual([]);
    expect(found("key_b")).toEqual(["key_b"]);
    expect(found("y_b")).toEqual([]);
  });

  test("leaves out keys that have ended unless they are asked for; an unknown state is no state", () => {
    expect(found("")).toEqual(["key_a", "key_b", "key_d"]);
    expect(found("", "ended")).toEqual(["key_c"]);
    expect(found("", "near")).toEqual(["key_d"]);
    expect(found("", "nonsense")).toEqual(["key_a", "key_b", "key_d"]);
    expect(found("", "all", "shop")).toEqual(["key_a", "key_c", "key_d"]);
  });

  test("puts what needs attention first, then what spends most", () => {
    expect(inOrder(keys).map(({ key }) => key.id)).toEqual(["key_d", "key_b", "key_a", "key_c"]);
  });
});

describe("what is sent when a key is created or changed", () => {
  const form = (fields: Record<string, string>) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return data;
  };

  test("a new key has only what was filled in", () => {
    expect(keyInput(form({ name: " search ", project: "default", expires_at: "", tags: "" }), GROUPS)).toEqual({
      name: "search",
      project: "default",
      limits: {},
    });
  });

  test("a change sends null for what was removed, and nothing of other groups", () => {
    const key = { ...KEY, networks: ["10.0.0.0/8"], protocols: ["chat"], routing: { hedge: true, max_attempts: 2 } };
    expect(keyInput(form({ models: "sim/*, openai/*" }), ["access"], key)).toEqual({
      models: ["sim/*", "openai/*"],
      protocols: null,
      networks: null,
      scopes: null,
    });
    expect(keyInput(form({ hedge: "", max_attempts: "2", fallback: "no" }), ["routing"], key)).toEqual({
      routing: { fallback: false, hedge: null, max_attempts: 2 },
    });
  });

  test("of the limits only those that differ are sent, so that two people do not undo each other", () => {
    const key = { ...KEY, limits: { requests_per_minute: 60, concurrent: 4, tokens_per_day: 9 } };
    const fields = { requests_per_minute: "60", concurrent: "", tokens_per_day: "10", budget_usd_total: "1.5" };
    expect(keyInput(form(fields), ["limits"], key)).toEqual({
      limits: { concurrent: null, tokens_per_day: 10, budget_usd_total: 1.5 },
    });
  });

  test("an expiry that was not touched is not sent, because the field has no seconds", () => {
    const fields = { name: "a", tags: "", expires_at: "2027-01-01T10:00", expires_before: "2027-01-01T10:00" };
    expect(keyInput(form(fields), ["general"], KEY)).toEqual({ name: "a", tags: null });
    expect(keyInput(form({ ...fields, expires_at: "" }), ["general"], KEY)).toEqual({
      name: "a",
      tags: null,
      expires_at: null,
    });
  });

  test("0087: whoever does not see the field for providers' objects does not change it", () => {
    const key = { ...KEY, provider_objects: true };
    expect(keyInput(form({}), ["data"], key)).not.toHaveProperty("provider_objects");
    expect(keyInput(form({ provider_objects_shown: "1" }), ["data"], key)).toMatchObject({ provider_objects: false });
  });
});

describe("settings and their sources", () => {
  const sources = (group: (typeof GROUPS)[number], key: Partial<ListedKey>, heritage = {}) =>
    settingsOf(group, { ...KEY, ...key }, heritage).map(({ name, value, source }) => `${name}: ${value} (${source})`);

  test("limits of every level are listed, because each of them can end a call", () => {
    expect(
      sources(
        "limits",
        { limits: { requests_per_minute: 6_000 }, made_by: "key_0" },
        {
          parent: { ...KEY, id: "key_0", name: "parent", limits: { concurrent: 4 } },
          project: { ...PROJECT, limits: { budget_usd_per_month: 400 } },
          gateway: { limits: { tokens_per_day: 1_000_000 } },
        },
      ),
    ).toEqual([
      "Requests per minute: 6,000 (this key)",
      "Concurrent calls: 4 (parent key parent, with all its child keys)",
      "Monthly budget (USD): 400 (project Web shop, all its keys together)",
      "Tokens per day: 1,000,000 (gateway, all calls together)",
    ]);
  });

  test("the strictest policy for usage without a price applies, not the key's own", () => {
    const project = { ...PROJECT, billing: { unpriced: "refuse" as const } };
    expect(sources("data", { billing: { unpriced: "mark" } }, { project })).toContain(
      "Usage without a known price: refused (project Web shop)",
    );
    expect(sources("data", {}, { gateway: { billing: { unpriced: "mark" } } })).toContain(
      "Usage without a known price: allowed and marked (gateway)",
    );
  });

  test("S05: a private project makes the key's objects private, whatever the key says", () => {
    const project = { ...PROJECT, objects: "private" as const };
    expect(sources("data", { objects: "project" }, { project })).toContain(
      "Files, batches, conversations: seen by the key that stored them (project Web shop)",
    );
  });
});

test("the call to try a key names a model that it may use", () => {
  expect(modelToTry(["*"])).toBe("sim/standard");
  expect(modelToTry(["anthropic/*", "openai/gpt-5.6"])).toBe("openai/gpt-5.6");
  expect(modelToTry(["anthropic/*"])).toBe("anthropic/*");
});
