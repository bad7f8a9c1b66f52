/**
 * Messages as bytes: four bytes with the length, most significant first, and then the UTF-8 text.
 * Both sides use this file.
 */

const headerBytes = 4;

/** One message as bytes. */
export function frameOf(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(headerBytes + length);
  frame.writeUInt32BE(length, 0);
  frame.write(text, headerBytes);
  return frame;
}

/**
 * Puts messages together from pieces. The function that it returns takes the next piece, and answers
 * false once a header announces more than `maxBytes`. Such a message is not kept.
 */
export function frameReader(
  maxBytes: number,
  onMessage: (text: string) => void,
): (piece: Buffer) => boolean {
  let pieces: Buffer[] = [];
  let held = 0;
  return (piece) => {
    pieces.push(piece);
    held += piece.length;
    while (held >= headerBytes) {
      const [first] = pieces as [Buffer];
      // The header is nearly always in one piece.
      const bytes = first.length >= headerBytes ? first : Buffer.concat(pieces);
      if (bytes !== first) pieces = [bytes];
      const length = bytes.readUInt32BE(0);
      if (length > maxBytes) return false;
      if (held < headerBytes + length) return true;
      const all = pieces.length === 1 ? bytes : Buffer.concat(pieces);
      const rest = all.subarray(headerBytes + length);
      pieces = rest.length === 0 ? [] : [rest];
      held = rest.length;
      onMessage(all.toString('utf8', headerBytes, headerBytes + length));
    }
    return true;
  };
}
