/** Logs that an output lost data on its way to JSON. */
import type { Call } from '../../core/call/call.ts';
import type { Losses } from '../../core/call/ports.ts';
import { className, losesData, lostInSandbox } from '../../values/json/lost-data.ts';

/** Logs it once for each tool of a registry. */
export function createLosses(): Losses {
  /** The definitions that were logged. */
  const logged = new WeakSet<object>();
  return {
    losesData,
    copied(call, value, object) {
      const lost = object ?? lostElsewhere(value);
      if (lost !== undefined) logLost(call, lost, logged);
    },
  };
}

/** The class of an object that lost its data in a sandbox. */
function lostElsewhere(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !(lostInSandbox in value)) return undefined;
  return String(value[lostInSandbox]);
}

/** @param lost the object, or the name of its class */
function logLost(
  { binding, session, callId, toolName }: Call,
  lost: object | string,
  logged: WeakSet<object>,
): void {
  if (binding === undefined) return;
  const { entry } = binding;
  entry.noticesLoss = false;
  if (logged.has(entry.definition)) return;
  logged.add(entry.definition);
  const type = typeof lost === 'string' ? lost : className(lost);
  session.registry.warn(
    { sessionId: session.sessionId, callId, toolName, type, source: 'output' },
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
