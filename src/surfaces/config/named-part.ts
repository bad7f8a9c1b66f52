/** Finds the part of an entry that a message of the library is about. */
import type { Located } from './places.ts';

/** The entry with the line of the first of its fields that the message names, if it names one. */
export function atNamedPart<Entry extends Located>(entry: Entry, message: string): Entry {
  const { value } = entry;
  if (typeof value !== 'object' || value === null) return entry;
  for (const [, noun, quoted = ''] of message.matchAll(/(\w+ )?`([^`]{1,1024})`/g)) {
    const path = stepsOf(quoted);
    // A tool or a profile may have the name of a field.
    if (noun === 'Tool ' || noun === 'Profile ' || path[0] === undefined) continue;
    if (!Object.hasOwn(value, path[0])) continue;
    const [, pointer = ''] = /Schema at `((?:\/[^`]{0,1024})?)`/.exec(message) ?? [];
    const inside = pointer.split('/').slice(1).map(unescaped);
    return { ...entry, line: entry.lineAt([...path, ...inside]) };
  }
  return entry;
}

/** The keys of a place as messages write it, such as `when["a.b"].in`. */
function stepsOf(place: string): readonly (string | number)[] {
  return [...place.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, key, index, name = '']) =>
      index === undefined ? (key === undefined ? name : unquoted(key)) : Number(index),
  );
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

function unescaped(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~');
}
