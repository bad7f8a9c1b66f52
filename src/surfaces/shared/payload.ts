/** Reads payloads of providers, in which any value may have any type. */

import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { readArguments } from '../../values/json/value.ts';

/**
 * Reads a member of a value that may not be an object. A member that throws when it is read counts
 * as absent.
 */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** Returns an array unchanged, and an empty one for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A call's id as text, because some gateways send numbers. Empty if there is none. */
export function idOf(value: unknown): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : textOf(value);
}

/** Returns a text unchanged, and an empty one for any other value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

// The forms in which models send a call without arguments.

/** No text that means "no arguments" is longer, apart from white space around it. */
const longestForm = 64;

/**
 * Whether the arguments of a call are one of the forms of "no arguments": absent, `null`, or a text
 * that is empty, white space, or the JSON of one of these.
 */
export function isNoArguments(input: unknown): boolean {
  if (input === undefined || input === null) return true;
  if (typeof input !== 'string') return false;
  const text = input.trim();
  if (text.length > longestForm) return false;
  const read = readArguments(text);
  return read === null || (typeof read === 'string' && read.trim() === '');
}

/** The arguments of a call as the session takes them: `{}` for each form of "no arguments". */
export function givenArguments(input: unknown): unknown {
  return isNoArguments(input) ? {} : input;
}

/** Returns an id like those that the session makes itself. */
export function freshCallId(session: ToolSession): string {
  return inspectSession(session).newCallId();
}
