/** Longer than any job of a benchmark takes on a slow machine. */
const JOB_TIMEOUT_MS = 90_000;

/** One command to a helper process; its failure has the helper's own message. */
export async function postJson<T>(url: string, body: unknown): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(JOB_TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as T;
}
