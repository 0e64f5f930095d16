import type { SessionView } from "../../live/live-sessions.ts";
import type { SessionItem } from "../schemas/live-session.ts";

/** The most connections in one answer, and of one process. */
export const MAX_SESSIONS = 1_000;

export const sessionItem = ({ openedAtMs, ...view }: SessionView, instance: string): SessionItem => ({
  ...view,
  opened_at: new Date(openedAtMs).toISOString(),
  instance,
});
