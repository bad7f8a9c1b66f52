/**
 * Makes the picture of a page smaller: its 256 most frequent colours stay, and each other one becomes
 * the nearest of them. A page has few colours, so no one sees a difference.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');

/** @param png As Chromium writes it: eight bits for each of three or four channels, not interlaced */
export function smallerPng(png: Buffer): Buffer {
  const { width, height, channels, data } = decoded(png);
  const counts = new Map<number, number>();
  const colourAt = (at: number): number => data.readUIntBE(at, 3);
  for (let at = 0; at < data.length; at += channels)
    counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1);
  const frequent = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = frequent.slice(0, 256);
  const places = new Map(frequent.map((colour) => [colour, nearest(colour, palette)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < width * height; pixel++)
    rows[pixel + Math.floor(pixel / width) + 1] = places.get(colourAt(pixel * channels)) ?? 0;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => channelsOf(colour)))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

function channelsOf(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function nearest(colour: number, palette: readonly number[]): number {
  const own = channelsOf(colour);
  const distance = (other: number): number =>
    channelsOf(other).reduce((sum, value, at) => sum + (value - (own[at] ?? 0)) ** 2, 0);
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [at, other] of palette.entries()) {
    const far = distance(other);
    if (far < least) [best, least] = [at, far];
  }
  return best;
}

/** The pixels of a picture, row by row. */
function decoded(png: Buffer) {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = png[25] === 6 ? 4 : 3;
  if (png[24] !== 8 || (png[25] !== 2 && png[25] !== 6) || png[28] !== 0)
    throw new Error('expected a picture as Chromium writes it');
  const filtered = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const data = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = filtered[row * (stride + 1)] ?? 0;
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column;
      const left = column < channels ? 0 : (data[at - channels] ?? 0);
      const up = row === 0 ? 0 : (data[at - stride] ?? 0);
      const corner = column < channels || row === 0 ? 0 : (data[at - stride - channels] ?? 0);
      const expected = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      data[at] = (filtered[row * (stride + 1) + 1 + column] ?? 0) + expected;
    }
  }
  return { width, height, channels, data };
}

/** The neighbour that is nearest to what their slope lets expect (PNG, section 9.4). */
function paeth(left: number, up: number, corner: number): number {
  const slope = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(slope - value)) as [
    number,
    number,
    number,
  ];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
