/** What the registry has to say, as lines of the screen. */
import { placesOf, placeText } from '../config/thrown-place.ts';
import { messageOf } from '../errors.ts';
import { jsonText } from './printable.ts';
import type { Screen } from './screen.ts';
import { shownPath } from './shown-path.ts';

/** Most lines of a stack with its causes. */
const mostLines = 60;
const mostCauses = 4;

interface Logger {
  warn(data: object, message?: string): void;
  error(data: object, message?: string): void;
}

/**
 * One line each. Of what a tool or a module threw the message and the place are shown; the first
 * such line says how to see more.
 * @param verbose Whether the stack follows, with its causes.
 */
export function registryLogger(screen: Screen, cwd: string, verbose: boolean): Logger {
  let hint = verbose ? '' : '. Run again with --verbose to see its stack.';
  const tell = (data: object, message = 'something was survived'): void => {
    const { err, source } = data as { err?: unknown; source?: unknown };
    if (err === undefined) {
      screen.note(`warning: ${message} ${jsonText(data)}`);
      return;
    }
    // What did not load has a line of its own already.
    if (source === 'config' && !verbose) return;
    const [place] = placesOf(err);
    const at =
      place === undefined ? '' : ` (${placeText({ ...place, path: shownPath(place.path, cwd) })})`;
    screen.note(`warning: ${message}: ${messageOf(err)}${at}${hint}`);
    hint = '';
    if (verbose) for (const line of stackLines(err)) screen.note(`  ${line}`);
  };
  return { warn: tell, error: tell };
}

function stackLines(thrown: unknown): readonly string[] {
  const lines: string[] = [];
  try {
    for (
      let [error, depth] = [thrown, 0];
      error instanceof Error && depth <= mostCauses;
      error = error.cause, depth++
    ) {
      const own = String(error.stack ?? error.message).split('\n');
      lines.push(...(depth === 0 ? own : [`Caused by: ${own[0]}`, ...own.slice(1)]));
    }
  } catch {
    // A getter that throws: what there is so far is shown.
  }
  return lines.slice(0, mostLines);
}
