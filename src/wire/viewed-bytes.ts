/** Most reads of a stream are of one event, and smaller. */
const ROOM = 8 * 1024;
const NO_EVENT_HAS = 0;

export interface ViewedBytes {
  readonly bytes: Buffer;
  readonly view: DataView;
}

const bytes = Buffer.allocUnsafeSlow(ROOM + 1);
const SHARED: ViewedBytes = { bytes, view: new DataView(bytes.buffer) };

/**
 * The bytes of whole events with a view of them, as patterns are compared with. Those of a small read are copied to one place that has its view
 * already: views of their own would take longer than all that is done with them. They are there until the next call, so until the end of
 * this turn at most, and are followed by a byte that no event has: no pattern goes on beyond their end.
 */
export function viewedBytes(events: Uint8Array): ViewedBytes {
  const { length } = events;
  if (length > ROOM) {
    const { buffer, byteOffset } = events;
    return { bytes: Buffer.from(buffer, byteOffset, length), view: new DataView(buffer, byteOffset, length) };
  }
  SHARED.bytes.set(events);
  SHARED.bytes[length] = NO_EVENT_HAS;
  return SHARED;
}
