/** A receipt as the API shows it. */
export interface ReceiptData {
  id: string;
  model: string;
  provider: string;
  upstream_model: string;
  lane: string;
  dialect: { client: string; upstream: string };
  stream: boolean;
  stop: { unified: string; raw: string } | null;
  plan: { provider: string; credential: string | null; model: string | null; place: number; why: string }[] | null;
  offers: { provider: string; credential: string | null; outcome: string; reason?: string }[];
  continued: { provider: string; from_characters: number }[];
  hedged: boolean;
  answered_by: string | null;
  guards: { name: string; on: string; verdict: string; count: number; reason: string | null; ms: number }[];
  fields: { path: string; action: string; reason: string }[];
  end_user: string | null;
  tags: string[];
  usage: Record<string, number | null>;
  usage_source: string;
  cached: boolean;
  saved_nano_usd: number;
  cached_answer: { receipt: string; age_seconds: number; usage: Record<string, unknown> } | null;
  reported: Record<string, number | null> | null;
  usage_corrections: string[];
  price_rule: string;
  cost_usd: number;
  cost_nano_usd: number;
  unpriced: string[];
  first_content_ms: number | null;
  total_ms: number;
  timing: {
    provider_first_content_ms: number;
    provider_stream_ms: number;
    client_ms: number;
    backoff_ms: number;
    queue_ms: number;
    gateway_ms: number;
  } | null;
  request_id: string | null;
  session_id: string | null;
  trace_id: string | null;
  batch: { id: string; line: number; custom_id: string } | null;
}
