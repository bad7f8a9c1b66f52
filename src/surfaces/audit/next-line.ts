/** The lines of a log in their order: where each stands, and which begins a new file. */
import { type AuditHead, type LineHash, type NewMembers, renderBody, renderLine } from './line.ts';

/** The state of a log when it is opened. */
export interface Opened {
  readonly head: AuditHead;
  /** Bytes in the newest file; 0 if the next line is its first. */
  readonly size: number;
  /** The number of the newest file since the log began, from 1. */
  readonly file: number;
  /** When the first line of the newest file was written; undefined if it has none. */
  readonly since: number | undefined;
  /**
   * Whether the newest file can be truncated and moved, which is impossible for devices and pipes.
   */
  readonly regular: boolean;
}

/** A line that could be the next one. */
export interface NextLine {
  readonly text: string;
  readonly rotates: boolean;
  readonly head: AuditHead;
  readonly bytes: number;
  readonly at: number;
}

/** Links the lines, and decides which of them begins a new file. */
export interface Chain {
  next(members: NewMembers, at: number): NextLine;
  /** Makes it the last line. Returns its position. */
  take(line: NextLine): AuditHead;
}

/** When a new file begins. */
export interface Rotate {
  readonly maxBytes: number | undefined;
  readonly daily: boolean;
}

/** The chain of the files of a path, or of a sink. */
export function fileChain(opened: Opened, hash: LineHash, rotate: Rotate): Chain {
  let { head, size, file, since } = opened;
  const { maxBytes, daily } = rotate;
  const render = (members: NewMembers, at: number, rotates: boolean): NextLine => {
    const isFirst = rotates || size === 0;
    // The first line of a file is marked as such. Verifying notices if it is cut off.
    if (isFirst) members.file = rotates ? file + 1 : file;
    const { text, head: own } = renderLine(members, head, hash);
    return { text, rotates, head: own, bytes: Buffer.byteLength(text), at };
  };
  return {
    next(members, at) {
      if (size > 0 && daily && dayOf(at) !== dayOf(since ?? at)) return render(members, at, true);
      const line = render(members, at, false);
      return size > 0 && maxBytes !== undefined && size + line.bytes > maxBytes
        ? render(members, at, true)
        : line;
    },
    take(line) {
      if (line.rotates) {
        size = 0;
        file++;
      }
      if (size === 0) since = line.at;
      size += line.bytes;
      head = line.head;
      return head;
    },
  };
}

const dayMs = 86_400_000;

/** The day of a time, in UTC. */
function dayOf(at: number): number {
  return Math.floor(at / dayMs);
}

/** Longer values are refused by stores. The line still gets its place and its hash. */
const longestBytes = 8_000_000 - 1_000;

/** Lines for a store, which get their place when they are written. */
export const storeChain: Chain = {
  next(members, at) {
    const text = renderBody(members);
    const bytes = Buffer.byteLength(text);
    if (bytes > longestBytes)
      throw new Error('The line has more than 8 MB, which is more than a store keeps.');
    return { text, rotates: false, head: { seq: 0, hash: '' }, bytes, at };
  },
  take: ({ head }) => head,
};
