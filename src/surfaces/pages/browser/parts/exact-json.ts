/** Reads JSON that a person has typed. */
import type { JsonValue } from '../../../../values/json/value.ts';

/** Texts, in which digits are no numbers, and numbers. */
const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** A number that would become another one is a fault, since the person has not typed that one. */
export function readExact(
  text: string,
): { readonly value: JsonValue } | { readonly fault: string; readonly isJson: boolean } {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    return {
      fault: `This is not JSON. ${error instanceof Error ? error.message : ''}`,
      isJson: false,
    };
  }
  for (const [found] of text.matchAll(token))
    if (!found.startsWith('"') && !isExact(found))
      return {
        fault:
          `The number ${found.slice(0, 40)} cannot be sent exactly. ` +
          `It would be ${Number(found)}.`,
        isJson: true,
      };
  return { value };
}

function isExact(text: string): boolean {
  const value = Number(text);
  if (String(value) === text) return true;
  const [, whole] = /^(-?\d+)(?:\.0+)?$/.exec(text) ?? [];
  if (!Number.isFinite(value)) return false;
  return whole === undefined
    ? value !== 0 || /^-?[0.]+(?:e|$)/i.test(text)
    : BigInt(whole) === BigInt(value);
}
