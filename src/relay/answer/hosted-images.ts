import type { GatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { stringifyInOrder } from "../../wire/ordered-json.ts";
import type { Call } from "../call.ts";
import { Work } from "../derived/work.ts";
import type { Gateway } from "../gateway.ts";
import { makeHostedImage } from "../media/hosted-image.ts";
import { HeldRequest } from "../request/held-request.ts";
import type { ServedModel } from "../settle/served-model.ts";
import { askAgain, type HostedImageTask, type HostedRounds, keepHosted } from "./hosted-rounds.ts";
import { streamHosted } from "./hosted-stream.ts";
import { identifiedResponse } from "./identity-headers.ts";
import { RelayError } from "./relay-error.ts";
import { errorOf } from "./stream-texts.ts";

/** The task, if the model's hosts cannot generate images and a model of the catalogue can. */
export function hostedImageTask(call: Call, served: ServedModel, gateway: Gateway): HostedImageTask | undefined {
  const { dialect, verb, strict } = call.incoming;
  const hosted = dialect.hostedImages;
  if (hosted === undefined || verb !== "generate" || strict || call.principal.strict) return undefined;
  const tool = hosted.read(call.outline);
  if (tool === undefined) return undefined;
  const { targets, catalogue, imageModel } = gateway.snapshot;
  if (!targets.serveText(served.offers)) return undefined;
  const hosts = targets.text(served.model, served.offers, dialect.name, true).list.flatMap((host) => host.targets);
  if (hosts.some(({ via, quirks }) => hosted.isNative(via, quirks))) return undefined;
  const makes = (id: string) => catalogue.list().find((model) => model.id === id && model.kind === "image");
  const named = tool.model === undefined ? undefined : makes(idOf(tool.model, gateway));
  const model =
    named ?? (imageModel === undefined ? catalogue.list().find(({ kind }) => kind === "image") : makes(imageModel));
  return model && { hosted, tool, imageModel: model.id };
}

function idOf(name: string, { snapshot }: Gateway): string {
  try {
    return snapshot.catalogue.resolve(name, { vendorNames: true }).model.id;
  } catch {
    return name;
  }
}

/** Responds with generated images in the middle. The first model response belongs to this call; each follow-up is a separate call. */
export async function answerWithImages(
  call: Call,
  task: HostedImageTask,
  gateway: Gateway,
  { first, ask }: { first: (call: Call) => Promise<Response>; ask: HostedRounds["ask"] },
): Promise<Response> {
  const { saver } = call;
  const answer = task.hosted.play(call.body, {
    answerId: saver?.answerId,
    makeId: gateway.random.id,
    limits: gateway.snapshot.imageLimits,
  });
  const body = answer.request;
  const files = call.request?.received.files;
  const request = new HeldRequest({ text: stringifyInOrder(body), body, ...(files && { files }) });
  const adapted = [...call.adapted, noteOf(task)];
  // What the gateway generates in place of a host has its own receipts.
  const billables = call.billables.filter(({ path }) => path !== `${task.tool.path}.type`);
  const work = new Work(call, gateway);
  let streams = false;
  try {
    const response = await first({ ...call, body, outline: body, request, adapted, billables, saver: undefined });
    const rounds: HostedRounds = { ...task, call, work, answer, ask };
    const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "content-length"));
    streams = call.stream;
    return identifiedResponse(streams ? streamHosted(response, rounds) : await answerWhole(response, rounds), headers);
  } finally {
    if (!streams) work.release();
  }
}

const noteOf = ({ tool, imageModel }: HostedImageTask): FieldNote => ({
  path: tool.path,
  action: "approximated",
  reason: `this model's providers do not generate images; ${imageModel} generates them, with separate receipts`,
});

async function answerWhole(first: Response, rounds: HostedRounds): Promise<string> {
  const { answer, call, work } = rounds;
  answer.take(JSON.parse(await first.text()));
  let failure: GatewayError | undefined;
  try {
    for (;;) {
      for (const asked of answer.asked) {
        answer.beginImage(asked);
        answer.endImage(asked, await makeHostedImage(asked, rounds));
      }
      work.passed(answer.said);
      if (!answer.goOn()) break;
      const next = await askAgain(rounds);
      answer.take(JSON.parse(await next.text()));
    }
  } catch (thrown) {
    failure = errorOf(thrown);
    // What was made and paid for reaches the client.
    if (!answer.hasImages) throw thrown instanceof RelayError ? thrown : new RelayError(failure, call);
  }
  const { answer: whole } = answer.finish(failure);
  await keepHosted(call, whole);
  return stringifyInOrder(whole);
}
