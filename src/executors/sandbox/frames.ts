/**
 * Messages as bytes: four bytes with the length, most significant first, and then the UTF-8 text.
 * Both sides use this file.
 */

const headerBytes = 4;

/** Writes one message as bytes. */
export function frameOf(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(headerBytes + length);
  frame.writeUInt32BE(length, 0);
  frame.write(text, headerBytes);
  return frame;
}

/**
 * Reads messages from pieces of bytes. The returned function takes the next piece, and copies
 * what it has to keep of it. It returns false if a header announces a message of more than
 * `maxBytes`, which is not collected.
 */
export function frameReader(
  maxBytes: number,
  onMessage: (text: string) => void,
): (piece: Buffer) => boolean {
  /** The part of an incomplete message that has arrived, and the number of bytes that it needs. */
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = headerBytes;
  return (piece) => {
    let bytes = piece;
    if (held > 0) {
      pieces.push(Buffer.from(piece));
      held += piece.length;
      if (held < needed) return true;
      bytes = Buffer.concat(pieces);
      pieces = [];
      held = 0;
    }
    let start = 0;
    for (;;) {
      const left = bytes.length - start;
      const length = left < headerBytes ? 0 : bytes.readUInt32BE(start);
      if (length > maxBytes) return false;
      needed = headerBytes + length;
      if (left < needed) break;
      const end = start + needed;
      onMessage(bytes.toString('utf8', start + headerBytes, end));
      start = end;
    }
    if (start < bytes.length) {
      pieces = [Buffer.from(bytes.subarray(start))];
      held = bytes.length - start;
    }
    return true;
  };
}
