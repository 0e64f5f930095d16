import type { Cancel } from "../base/clock.ts";
import { isObject, numberAt, objectAt, parseObject, stringAt } from "../base/json.ts";
import type { Leases } from "../leases/leases.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { HealthNews } from "../routing/health/health.ts";

/** How often instances exchange their measurements. */
const MEASURED_MS = 2_000;

type News = { revoked: string } | { subject: { id: string; untilMs: number } } | { health: HealthNews };

/**
 * Shares with all instances what one of them learns: revoked keys and subjects, even while the storage is unavailable, and the health of
 * providers. It travels with the leases and may be lost with them; keys are still read from the storage twice a second.
 */
export function shareInstanceNews(gateway: Gateway, leases: Leases): Cancel {
  const { keys, health, clock } = gateway;
  const publish = (news: News) => leases.publish(JSON.stringify(news));
  keys.onRevokedHere = (revoked) => publish({ revoked });
  keys.tokens.onRevokedHere = (id, untilMs) => publish({ subject: { id, untilMs } });
  health.onNews = (news) => publish({ health: news });
  leases.onNews = (text) => {
    const news = parseObject(text);
    const revoked = news?.["revoked"];
    if (typeof revoked === "string") keys.hearRevoked(revoked);
    const subject = objectAt(news, "subject");
    const [id, untilMs] = [stringAt(subject, "id"), numberAt(subject, "untilMs")];
    if (id !== undefined && untilMs !== undefined) keys.tokens.hearRevoked(id, untilMs);
    const told = readHealth(news?.["health"]);
    if (told !== undefined) health.applyNews(told, gateway.snapshot.targets.all());
  };
  return clock.every(MEASURED_MS, () => health.publishMeasurements(), { background: true });
}

/** Another version may have sent it, so unknown fields are ignored. */
function readHealth(value: unknown): HealthNews | undefined {
  if (!isObject(value)) return undefined;
  const { target, breaker, measured } = value;
  if (typeof target !== "string") return undefined;
  const openMs = isObject(breaker) ? breaker["openMs"] : undefined;
  return {
    target,
    ...(isObject(breaker) && {
      breaker: {
        ofCredential: breaker["ofCredential"] === true,
        openMs: typeof openMs === "number" ? openMs : undefined,
      },
    }),
    ...(Array.isArray(measured) && measured.every(Number.isFinite) && { measured: measured.map(Number) }),
  };
}
