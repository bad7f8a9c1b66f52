/** Splits text that arrives in chunks into lines. */
import { keptOfLine } from './skipped-line.ts';

/** Takes the text as it arrives. */
export interface LineSplitter {
  /** Takes a chunk. Lines that it completes are passed on before this returns. */
  add(chunk: string): void;
  /** Passes on what follows the last line feed, if anything does. */
  end(): void;
}

/** Where the lines go. */
export interface LineTaker {
  /** A line without its line feed. */
  take(line: string): void;
  /** A line that is too long, of which only the two ends were kept. */
  refuse(beginning: string, end: string): void;
}

/**
 * Each chunk is searched once, and each line is put together once, however small its chunks are. A
 * line that is too long is never kept as a whole.
 * @param maxLength most characters of a line
 */
export function lineSplitter(maxLength: number, { take, refuse }: LineTaker): LineSplitter {
  let pieces: string[] = [];
  let length = 0;
  /** The two ends of a line that is too long. */
  let ends: { readonly beginning: string; end: string } | undefined;

  const hold = (piece: string): void => {
    if (ends !== undefined) {
      ends.end = (ends.end + piece).slice(-keptOfLine);
      return;
    }
    pieces.push(piece);
    length += piece.length;
    if (length <= maxLength) return;
    const text = pieces.join('');
    ends = { beginning: text.slice(0, keptOfLine), end: text.slice(-keptOfLine) };
    pieces = [];
  };
  const finish = (): void => {
    const line = pieces.join('');
    const tooLong = ends;
    pieces = [];
    length = 0;
    ends = undefined;
    // A long line is refused only here, because the id may be at its end.
    if (tooLong === undefined) take(line);
    else refuse(tooLong.beginning, tooLong.end);
  };
  return {
    add(chunk) {
      let start = 0;
      for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', start)) {
        hold(chunk.slice(start, at));
        finish();
        start = at + 1;
      }
      if (start < chunk.length) hold(chunk.slice(start));
    },
    end() {
      if (length > 0) finish();
    },
  };
}
