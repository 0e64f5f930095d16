import recorder from "./recorder-worklet.js" with { type: "file" };

/** A microphone that is on. */
export interface Microphone {
  close(): void;
}

interface Worklets {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** The page's policy demands that addresses of scripts are declared (S14). This is the only one. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Worklets };
  const own = (address: string): string => {
    if (address === url) return address;
    throw new TypeError("only the recorder is loaded");
  };
  return trustedTypes?.createPolicy("recorder", { createScriptURL: own }).createScriptURL(url) ?? url;
}

/** Asks for the microphone, and passes on frames of 40 ms at 24,000 samples a second. */
export async function openMicrophone(onFrame: (frame: Int16Array) => void): Promise<Microphone> {
  if (navigator.mediaDevices === undefined)
    throw new Error("Browsers allow the microphone only on HTTPS and on localhost.");
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true },
  });
  const context = new AudioContext();
  try {
    await context.audioWorklet.addModule(trusted(recorder));
    const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }: MessageEvent<Int16Array>) => onFrame(data);
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
  } catch (failure) {
    close();
    throw failure;
  }
  function close(): void {
    for (const track of stream.getTracks()) track.stop();
    void context.close();
  }
  return { close };
}
