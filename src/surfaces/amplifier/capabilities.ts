/** Published values: in the binding if JSON can hold them, otherwise in JavaScript. */
import type { NodeBinding } from './node-binding-port.ts';

export interface Capabilities {
  /** Publishes a value under a name. A later value for the same name replaces it. */
  register(name: string, value: unknown): void;
  /** Returns the value, or null. */
  get(name: string): unknown;
}

export function createCapabilities(binding: NodeBinding): Capabilities {
  const unsendable = new Map<string, unknown>();
  return {
    register(name, value) {
      const json = jsonText(value);
      if (json === undefined) {
        unsendable.set(name, value);
        return;
      }
      binding.registerCapability(name, json);
      unsendable.delete(name);
    },
    get(name) {
      if (unsendable.has(name)) return unsendable.get(name) ?? null;
      const json = binding.getCapability(name);
      return json === null || json === undefined ? null : (JSON.parse(json) as unknown);
    },
  };
}

/** The value as JSON text; undefined if parsing the text would not give the same value. */
function jsonText(value: unknown): string | undefined {
  try {
    return isPlainJson(value, 0, { left: 100_000 }) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The depth is bounded because of cycles, and the number of values because of shared objects. */
function isPlainJson(value: unknown, depth: number, budget: { left: number }): boolean {
  if (value === null || typeof value === 'boolean') return true;
  // The binding's parser refuses half of a character.
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  budget.left -= 1;
  if (typeof value !== 'object' || depth > 64 || budget.left < 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false;
  return (
    Object.getOwnPropertySymbols(value).length === 0 &&
    Object.entries(value).every(
      ([key, item]) => key.isWellFormed() && isPlainJson(item, depth + 1, budget),
    )
  );
}
