/** The registry's log, as lines of the screen. */

import {
  placeOfFrame,
  placesOf,
  placeText,
  type ThrownPlace,
} from '../surfaces/config/thrown-place.ts';
import { messageOf } from '../values/errors/index.ts';
import { ownFolder } from '../values/packages/own-folder.ts';
import { jsonText, shownPath } from './printable.ts';
import type { Screen } from './screen.ts';

/** Maximum lines of a stack with its causes, with `--verbose` and without. */
const maxLines = { verbose: 60, brief: 12 };
const maxCauses = 4;

interface Logger {
  warn(data: object, message?: string): void;
  error(data: object, message?: string): void;
}

/**
 * For an error that a tool, a policy or a module threw: a line with the message and the place, and
 * below it the stack. Other entries are one line.
 * @param verbose Shows the whole stack with its causes. Without it, frames of Node and of
 * packages are left out, and the first such error says how to see them.
 */
export function registryLogger(screen: Screen, cwd: string, verbose: boolean): Logger {
  let hint = verbose ? '' : '. Run again with --verbose to see the whole stack.';
  const tell = (data: object, message = 'an error was survived'): void => {
    const { err, source } = data as { err?: unknown; source?: unknown };
    if (err === undefined) {
      screen.note(`warning: ${message} ${jsonText(data)}`);
      return;
    }
    const reason = messageOf(err);
    const text = message.endsWith(`: ${reason}`) ? message : `${message}: ${reason}`;
    const stack = verbose ? wholeStack(err) : ownFrames(err);
    // An entry of a file that does not load also has a line with the message and the place.
    if (source === 'config' && !verbose && stack.length < 2) return;
    const places = placesOf(err);
    // What is thrown without a stack gets one in the library, which says nothing about its place.
    const place = places.find(({ path }) => !path.startsWith(ownFolder));
    if (place === undefined) screen.note(`warning: ${text}`);
    else {
      const at = placeText({ ...place, path: shownPath(place.path, cwd) });
      screen.note(`warning: ${text} (${at})${hint}`);
      hint = '';
    }
    for (const line of stack) screen.note(`  ${line}`);
  };
  return { warn: tell, error: tell };
}

/** The stack and those of its causes. */
function wholeStack(thrown: unknown): readonly string[] {
  const lines = stacksOf(thrown).flatMap((stack, depth) => {
    const [first = '', ...rest] = stack.split('\n');
    return [depth === 0 ? first : `Caused by: ${first}`, ...rest];
  });
  return lines.slice(0, maxLines.verbose);
}

/** The frames of the host's own code, and the causes with theirs. */
function ownFrames(thrown: unknown): readonly string[] {
  const lines = stacksOf(thrown).flatMap((stack, depth) => {
    const [first = '', ...rest] = stack.split('\n');
    const frames = rest.filter((line) => {
      const place = /^\s+at /.test(line) ? placeOfFrame(line) : undefined;
      return place !== undefined && isOwn(place);
    });
    return depth === 0 ? frames : [`Caused by: ${first}`, ...frames];
  });
  return lines.slice(0, maxLines.brief);
}

/** Whether a place is in the host's own code. */
function isOwn({ path }: ThrownPlace): boolean {
  return !path.startsWith(ownFolder) && !/[/\\]node_modules[/\\]/.test(path);
}

/** The stack of what was thrown, then those of its causes. */
function stacksOf(thrown: unknown): readonly string[] {
  const stacks: string[] = [];
  try {
    let error = thrown;
    while (error instanceof Error && stacks.length <= maxCauses) {
      stacks.push(String(error.stack ?? error.message));
      error = error.cause;
    }
  } catch {
    // A getter that throws: the stacks that could be read are shown.
  }
  return stacks;
}
