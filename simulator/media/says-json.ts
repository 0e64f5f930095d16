/** Whether a request calls its body JSON. */
export function saysJson(headers: Headers): boolean {
  return /^application\/json\b/i.test(headers.get("content-type") ?? "");
}
