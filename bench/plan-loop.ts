/** Plans calls of a model with twelve offers, over and over, and prints the CPU time of one plan as JSON. For scenarios/plan.ts. */
import { Secret } from "../src/base/secret.ts";
import { system } from "../src/base/system.ts";
import type { Preference } from "../src/canon/preference.ts";
import { buildCatalogue } from "../src/catalogue/catalogue.ts";
import { chat } from "../src/dialects/chat/index.ts";
import { BUILT_IN, createProvider } from "../src/providers/index.ts";
import type { Call } from "../src/relay/call.ts";
import type { Gateway } from "../src/relay/gateway.ts";
import { planText } from "../src/relay/request/plan-call.ts";
import { DEFAULT_ROUTING, RoutingDefaults } from "../src/routing/call-routing.ts";
import { Conversations } from "../src/routing/conversations.ts";
import { Health } from "../src/routing/health/health.ts";
import { Targets } from "../src/routing/targets.ts";

const OFFERS = 12;
const WARM_UP = 50_000;
const [plansText = "200000"] = process.argv.slice(2);
const plans = Number(plansText);

const names = Array.from({ length: OFFERS }, (_, index) => `host-${index}`);
const providers = new Map(
  names.map((name) => {
    const host = { name, kind: "openai-compatible", baseUrl: `http://${name}.invalid/v1` };
    return [name, [createProvider({ ...host, apiKey: new Secret(`key-of-${name}`) }, system)]];
  }),
);
const usd = (value: number) => [{ value, unit: "perMTokens" as const, currency: "USD" as const }];
const catalogue = buildCatalogue({
  providers: names.map((name) => ({ name, publishers: [] })),
  models: [
    {
      id: "bench/model",
      offers: names.map((provider, index) => ({
        provider,
        model: "upstream",
        pricings: { prompt: usd(1 + (index % 5)), completion: usd(2 + (index % 7)) },
      })),
    },
  ],
});
const { model, offers } = catalogue.resolve("bench/model");
const targets = new Targets(catalogue.list(), providers, BUILT_IN);
const health = new Health(system, new RoutingDefaults());
for (const [index, target] of [...targets.all()].entries()) {
  const attempt = {};
  health.begin(target, attempt);
  health.answered(target, 200 + ((index * 37) % 100), "stream");
}
const gateway = { ...system, health, conversations: new Conversations(), snapshot: { targets } } as unknown as Gateway;
const served = { model, offers, calledAs: model.id, notes: [] };
const turns = ["user", "assistant", "user"].map((role, index) => ({ role, content: `turn ${index} `.repeat(100) }));
const body = { model: model.id, messages: [{ role: "system", content: "Be brief. ".repeat(200) }, ...turns] };

function callOf(preference: Preference): Call {
  const incoming = { dialect: chat, verb: "generate" };
  const routing = { ...DEFAULT_ROUTING, preference };
  return { incoming, routing, principal: { project: "default" }, model, body } as unknown as Call;
}

function microsecondsOf(preference: Preference): number {
  const call = callOf(preference);
  for (let plan = 0; plan < WARM_UP; plan++) planText(call, gateway, served);
  const before = process.cpuUsage();
  for (let plan = 0; plan < plans; plan++) planText(call, gateway, served);
  const { user, system: kernel } = process.cpuUsage(before);
  return (user + kernel) / plans;
}

const measured: Record<string, number> = {
  "nothing preferred": microsecondsOf({ sticky: false }),
  "priority, cost": microsecondsOf({ primaryFactor: "cost", sticky: false }),
  "priority, speed": microsecondsOf({ primaryFactor: "speed", sticky: false }),
  "priority, quality": microsecondsOf({ primaryFactor: "quality", sticky: false }),
  round_robin: microsecondsOf({ type: "round_robin", sticky: false }),
  least_latency: microsecondsOf({ type: "least_latency", sticky: false }),
  "least_latency, in a conversation": microsecondsOf({ type: "least_latency" }),
};
process.stdout.write(`${JSON.stringify(measured)}\n`);
