/** A host of Realtime for the benchmark: opens sessions, and sends a second of sound back for each that it is sent. Prints its port. */
import { realtime } from "../../testing/live/live-hosts.ts";

const created = JSON.stringify(realtime.created());
const AUDIO = '"input_audio_buffer.append"';

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request, own) => (own.upgrade(request) ? undefined : new Response("no", { status: 400 })),
  websocket: {
    perMessageDeflate: false,
    open: (socket) => void socket.sendText(created),
    message: (socket, frame) => {
      const text = String(frame);
      if (text.includes(AUDIO)) {
        const at = text.indexOf('"audio":"') + 9;
        socket.sendText(
          `{"type":"response.output_audio.delta","event_id":"e","response_id":"resp_1","item_id":"item_1","output_index":0,"content_index":0,"delta":"${text.slice(at, text.indexOf('"', at))}"}`,
        );
      } else if (text.includes('"response.create"')) socket.sendText(JSON.stringify(realtime.began("resp_1")));
    },
  },
});
console.log(server.port);
