/** References in a strict mode: their targets become definitions at the root. */
import type { JsonObject } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { followReference, pointerOf } from '../../../values/schema/local-reference.ts';
import { refuse, type StrictConversion } from './conversion.ts';

/** Returns the reference to use instead: `#`, or a name in `$defs`. */
export function refer(
  conversion: StrictConversion,
  reference: string,
  holder: JsonObject,
  path: string,
): string {
  const { definitions, document, names, open, rules } = conversion;
  const target = followReference(reference, holder, document);
  if (!isJsonObject(target)) {
    refuse(conversion, path, `\`${reference}\` leads to no schema in this one`);
    return reference;
  }
  if (!rules.recursion && open.has(target)) {
    refuse(conversion, path, 'the schema refers to itself');
    return reference;
  }
  if (target === document) return '#';
  const known = names.get(target);
  if (known !== undefined) return `#/$defs/${known}`;
  const name = freeName(reference, definitions);
  // Named before it is converted, so that it can refer to itself, and in the order of first use.
  names.set(target, name);
  definitions.set(name, {});
  open.add(target);
  definitions.set(name, conversion.convert(target, pointerOf(target, document) ?? path));
  open.delete(target);
  return `#/$defs/${name}`;
}

function freeName(reference: string, taken: ReadonlyMap<string, unknown>): string {
  const base =
    (reference.split(/[/#]/).at(-1) ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'definition';
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  return name;
}
