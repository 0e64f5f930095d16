import { expect, test } from "bun:test";
import { keyView } from "./key-view.ts";

const bare = { id: "key_1", name: "ci", project: "default", hint: "abcd", models: ["*"], limits: {} };

test("a key is shown with all its limits and settings, as files spell them", () => {
  const key = {
    ...bare,
    protocols: ["chat"],
    limits: { requestsPerMinute: 60, budgetUsdTotal: 1.5 },
    strict: true,
    routing: { type: "round_robin", fallback: false, deadline_ms: 5 },
    expiresAtMs: Date.UTC(2027, 0),
    createdAtMs: Date.UTC(2026, 0),
    madeBy: "key_0",
    revokedAtMs: Date.UTC(2026, 6),
    networks: ["10.0.0.0/8"],
    scopes: ["keys:create"],
    tags: ["team-a"],
    capture: true,
    providerObjects: true,
    objects: "project" as const,
    unpriced: "mark" as const,
    partLimits: {
      end_users: { limits: { budget_usd_per_week: 2 }, required: true },
      limits_by_model: { "openai/*": { requests_per_day: 5 } },
    },
    rotatedAtMs: Date.UTC(2026, 1),
    previousUntilMs: Date.UTC(2026, 2),
    lastUsedAtMs: Date.UTC(2026, 3),
  };
  expect(keyView(key)).toEqual({
    ...bare,
    from: "storage",
    protocols: ["chat"],
    limits: { requests_per_minute: 60, budget_usd_total: 1.5 },
    strict: true,
    routing: { type: "round_robin", fallback: "false", deadline_ms: 5 },
    expires_at: "2027-01-01T00:00:00.000Z",
    created_at: "2026-01-01T00:00:00.000Z",
    made_by: "key_0",
    revoked_at: "2026-07-01T00:00:00.000Z",
    networks: ["10.0.0.0/8"],
    scopes: ["keys:create"],
    tags: ["team-a"],
    capture: true,
    provider_objects: true,
    objects: "project",
    billing: { unpriced: "mark" },
    cache: null,
    end_users: { limits: { budget_usd_per_week: 2 }, required: true },
    limits_by_model: { "openai/*": { requests_per_day: 5 } },
    limits_by_tag: {},
    rotated_at: "2026-02-01T00:00:00.000Z",
    previous_until: "2026-03-01T00:00:00.000Z",
    last_used_at: "2026-04-01T00:00:00.000Z",
  });
});

test("absent settings are null, and a key without limits shows none", () => {
  expect(keyView(bare)).toEqual({
    ...bare,
    from: "file",
    protocols: null,
    strict: false,
    routing: {},
    expires_at: null,
    created_at: null,
    made_by: null,
    revoked_at: null,
    networks: null,
    scopes: [],
    tags: [],
    capture: false,
    provider_objects: false,
    objects: null,
    billing: { unpriced: null },
    cache: null,
    end_users: null,
    limits_by_model: {},
    limits_by_tag: {},
    rotated_at: null,
    previous_until: null,
    last_used_at: null,
  });
});
