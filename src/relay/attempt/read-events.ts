import { EventSplitter } from "../../wire/sse.ts";

/** The complete events of a stream that the gateway itself wrote, as text. */
export async function* readEvents({ body }: Response): AsyncGenerator<string> {
  const splitter = new EventSplitter();
  for await (const chunk of body ?? []) {
    const text = splitter.push(chunk);
    if (text !== "") yield text;
  }
  const rest = splitter.end();
  if (rest !== "") yield rest;
}
