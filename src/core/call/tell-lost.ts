/** Logs that an output lost data on its way to JSON. */
import { className } from '../../values/json/lost-data.ts';
import type { Call } from './call.ts';

/** The definitions that were logged, by registry. */
const told = new WeakMap<object, WeakSet<object>>();

/** Logs it once for each tool of a registry. @param lost the object, or the name of its class */
export function logLostCall(
  { binding, session, callId, toolName }: Call,
  lost: object | string,
): void {
  if (binding === undefined) return;
  const { entry } = binding;
  const { registry, sessionId } = session;
  entry.noticesLoss = false;
  const before = told.get(registry) ?? new WeakSet();
  told.set(registry, before);
  if (before.has(entry.definition)) return;
  before.add(entry.definition);
  const type = typeof lost === 'string' ? lost : className(lost);
  registry.warn(
    { sessionId, callId, toolName, type, source: 'output' },
    `an output of \`${toolName}\` has ${aOrAn(type)} whose content is not in its JSON. ` +
      adviceFor(type, lost),
  );
}

function aOrAn(type: string): string {
  if (type === 'object') return 'an object';
  return `${/^[AEIOU]/i.test(type) ? 'an' : 'a'} ${type}`;
}

/** What to return instead, as far as the class tells. */
function adviceFor(type: string, lost: object | string): string {
  if (/^(?:Response|Request)$/.test(type))
    return 'Return `await response.json()` or `await response.text()` instead';
  if (type === 'Buffer')
    return 'Return its text, or bytes as base64 with `content.image` or `content.resource` instead';
  if (/^(?:Blob|File)$/.test(type))
    return 'Return `await blob.text()`, or its bytes as base64 with `content.resource` instead';
  if (/Stream|Readable|Generator/.test(type))
    return 'Read it to its end, and return what it held instead';
  if (typeof lost === 'object' && iterates(lost))
    return 'Return `[...value]` or `Object.fromEntries(value)` instead';
  return 'Return a plain object with its data, or give the class a `toJSON`';
}

function iterates(lost: object): boolean {
  try {
    return Symbol.iterator in lost;
  } catch {
    return false;
  }
}
